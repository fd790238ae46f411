-- Where a publisher's back end is told of changes, what it is told, and the way there.
--
-- Safe for the version before: it knows none of these tables.

-- `kind`: 1 is told of each change of a customer's purchases, 2 of events by their ids (`events`: which, comma-separated).
-- `environment`: 0 all purchases, 1 production's, 2 the sandbox's. An endpoint that was removed stays, for the lists of what it
-- was sent. `from_settings`: it stands in the configuration, and goes when it no longer does.
CREATE TABLE webhook_endpoints (
    id              text        PRIMARY KEY CHECK (id ~ '^[0-9a-f]{24}$'),
    publisher       text        NOT NULL REFERENCES publishers (id),
    kind            smallint    NOT NULL CHECK (kind IN (1, 2)),
    url             text        NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    environment     smallint    NOT NULL DEFAULT 0 CHECK (environment BETWEEN 0 AND 2),
    events          text,
    from_settings   boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    last_success_at timestamptz,
    failing_since   timestamptz,
    disabled_at     timestamptz,
    disabled_reason text,
    removed_at      timestamptz,
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CHECK ((kind = 2) = (events IS NOT NULL))
);
CREATE UNIQUE INDEX webhook_endpoints_settings ON webhook_endpoints (publisher, url)
    WHERE from_settings AND removed_at IS NULL;

-- Each message to each endpoint. `lane`: whom it is about (the publisher's own name for a customer); of one endpoint and lane
-- messages go in order. `sequence`: of two states the greater one is newer. `body` is without the password.
-- `state`: 0 waits, 1 is delivered, 2 was given up, 3 made way for a newer one, 4 was dropped with its endpoint.
-- `failed_at` is set with state 2 alone: an index that no other end has to touch.
CREATE TABLE webhook_deliveries (
    bucket      smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    accepted_on date        NOT NULL,
    id          uuid        NOT NULL,
    created_at  timestamptz NOT NULL,
    finished_at timestamptz,
    failed_at   timestamptz,
    sequence    bigint      NOT NULL,
    state       smallint    NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 4),
    tries       integer     NOT NULL DEFAULT 0,
    last_status integer,
    endpoint    text        NOT NULL,
    publisher   text        NOT NULL,
    lane        text        NOT NULL,
    last_error  text,
    body        text        NOT NULL,
    PRIMARY KEY (bucket, accepted_on, id),
    CHECK ((state = 0) = (finished_at IS NULL)),
    CHECK ((state = 2) = (failed_at IS NOT NULL))
) PARTITION BY RANGE (accepted_on);
CREATE TABLE webhook_deliveries_default PARTITION OF webhook_deliveries DEFAULT;
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (created_at, id);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (created_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX webhook_deliveries_lane ON webhook_deliveries (bucket, lane, created_at);

-- What is still to be delivered. Claimed like a pursuit: `due_at` is the next try or, while `owner` holds it, the end of the
-- lease. `overtaken`: a newer state came while it was under way, and it is never sent again.
-- `body_mark`: tells the password of its first try from others (sixteen bits of a digest).
CREATE TABLE webhook_queue (
    bucket      smallint    NOT NULL,
    id          uuid        NOT NULL,
    accepted_on date        NOT NULL,
    due_at      timestamptz NOT NULL,
    created_at  timestamptz NOT NULL,
    sequence    bigint      NOT NULL,
    fence       integer     NOT NULL DEFAULT 0,
    tries       integer     NOT NULL DEFAULT 0,
    body_mark   integer,
    overtaken   boolean     NOT NULL DEFAULT false,
    endpoint    text        NOT NULL,
    lane        text        NOT NULL,
    owner       text,
    PRIMARY KEY (bucket, id)
) WITH (fillfactor = 70);
CREATE INDEX webhook_queue_due ON webhook_queue (endpoint, due_at);
CREATE INDEX webhook_queue_lane ON webhook_queue (bucket, endpoint, lane, sequence);
-- The database itself refuses to have two of one endpoint and lane under way.
CREATE UNIQUE INDEX webhook_queue_one_sender ON webhook_queue (bucket, endpoint, lane) WHERE owner IS NOT NULL;
