-- Whether what is private is sealed in this database, and the keys that it is sealed by.
--
-- `state`: 0 it is not, 1 it is, 2 it is being sealed, 3 it is being opened again. Without a row nobody has decided yet: the first copy
-- that is started does.
--
-- Safe for the version before, as long as the state is 0: it reads and writes everything as it is.

CREATE TABLE encryption (
    only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    state      smallint    NOT NULL CHECK (state BETWEEN 0 AND 3),
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- Data keys, each wrapped by a key of the configuration, whose id is `wrapped_by`.
CREATE TABLE encryption_keys (
    number     integer     PRIMARY KEY CHECK (number > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    wrapped_by text        NOT NULL,
    wrapped    bytea       NOT NULL
);
