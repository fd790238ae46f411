-- What ops needs to see: who did what, who is signed in at the console, and how busy the relay was.
--
-- Safe for the version before: it neither reads nor writes these.

CREATE TABLE audit_log (
    bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    -- A key's name and id, or the shell's user.
    actor text NOT NULL,
    action text NOT NULL,
    -- What it was done to: an id, a name, or a range.
    target text NOT NULL,
    reason text,
    PRIMARY KEY (bucket, id)
);
CREATE INDEX audit_log_newest ON audit_log (at, id);

-- A browser that is signed in. `digest` is the SHA-256 of what its cookie holds.
CREATE TABLE console_sessions (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    key_id text NOT NULL REFERENCES api_keys (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at)
);
CREATE INDEX console_sessions_expiry ON console_sessions (expires_at);

-- How often something happened in a minute, for charts: each copy adds what it has counted, every few seconds, to rows of its own
-- bucket.
CREATE TABLE activity (
    bucket smallint NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    minute timestamptz NOT NULL,
    kind smallint NOT NULL,
    count bigint NOT NULL CHECK (count > 0),
    PRIMARY KEY (bucket, minute, kind)
);
CREATE INDEX activity_minute ON activity (minute);
