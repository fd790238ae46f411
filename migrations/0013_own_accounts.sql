-- Publishers that have an account of their own at Cleeng. The first copy that is started with a publisher in its
-- RELAY_PUBLISHERS_FILE writes it here; from then on copies that do not have that account leave the publisher's work alone.
-- `publisher` refers to no row: the account may be configured before the publisher is added.
--
-- Safe for the version before, but it does not look here.

CREATE TABLE own_accounts (
    publisher text PRIMARY KEY CHECK (publisher ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    since timestamptz NOT NULL DEFAULT now()
);
