-- The road of one receipt: accepted, pursued, settled.
--
-- Rules that the whole schema keeps:
--   * `bucket` (RelayCore/Identity/Bucket.swift) leads every primary and unique key of the hot tables, so that the same
--     schema runs on one PostgreSQL and on a cluster sharded by it;
--   * no sequences, triggers, functions, enum types or advisory locks: ids are made by the service, states are numbers
--     held to their range by CHECK;
--   * what workers claim by is narrow and apart from what is only read; receipts and timelines live in tables of their own;
--   * what grows with time is partitioned by the day of acceptance, which is part of the public validation id. Old rows
--     leave by dropping partitions; the default partition takes what no other holds, so nothing accepted is refused for
--     want of one.

CREATE TABLE publishers (
    id          text        NOT NULL PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id          text        NOT NULL PRIMARY KEY,
    publisher   text        NOT NULL REFERENCES publishers (id),
    role        smallint    NOT NULL CHECK (role BETWEEN 1 AND 4),
    app         text        NOT NULL DEFAULT '',                    -- bundle id; '' for a key of no particular app
    name        text        NOT NULL,
    digest      bytea       NOT NULL CHECK (octet_length(digest) = 32),
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz
);

-- What was accepted, and what became of it: what a poll reads.
CREATE TABLE validations (
    bucket               smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    accepted_on          date        NOT NULL,
    id                   uuid        NOT NULL,
    accepted_at          timestamptz NOT NULL,
    deadline             timestamptz NOT NULL,
    settled_at           timestamptz,
    expires_at           timestamptz,
    status               smallint    NOT NULL CHECK (status BETWEEN 0 AND 5),
    late                 boolean     NOT NULL DEFAULT false,
    receipt_readable     boolean     NOT NULL,
    entitled_before      boolean,
    forwards             integer     NOT NULL DEFAULT 0,
    publisher            text        NOT NULL,
    app                  text        NOT NULL,
    email                text        NOT NULL,                      -- as the app sent it
    customer             text        NOT NULL,                      -- trimmed and lower-cased
    application_username text        NOT NULL,
    offer_id             text        NOT NULL,
    transaction_id       text        NOT NULL,
    app_type             text        NOT NULL,
    ip_address           text,
    coupon_code          text,
    subscription_key     text        NOT NULL,                      -- the original transaction id
    environment          text        NOT NULL,
    product_id           text,
    bundle_id            text,
    purchase_key         bytea       NOT NULL,
    reason               text,
    evidence             text,
    PRIMARY KEY (bucket, accepted_on, id),
    CHECK ((status = 0) = (settled_at IS NULL)),
    CHECK (status <> 1 OR evidence IS NOT NULL)
) PARTITION BY RANGE (accepted_on);
CREATE TABLE validations_default PARTITION OF validations DEFAULT WITH (fillfactor = 85);
CREATE INDEX validations_newest ON validations (accepted_at, id);
CREATE INDEX validations_customer ON validations (customer, offer_id, accepted_at);
CREATE INDEX validations_subscription ON validations (bucket, subscription_key);

-- The receipt as the app sent it: decoded where encoding it again gives the very same text, else the text itself.
CREATE TABLE receipts (
    bucket       smallint NOT NULL,
    accepted_on  date     NOT NULL,
    id           uuid     NOT NULL,
    is_text      boolean  NOT NULL,
    body         bytea    NOT NULL,
    PRIMARY KEY (bucket, accepted_on, id)
) PARTITION BY RANGE (accepted_on);
CREATE TABLE receipts_default PARTITION OF receipts DEFAULT;
-- Receipts are signatures and certificates: trying to compress them costs more than it saves.
ALTER TABLE receipts ALTER COLUMN body SET STORAGE EXTERNAL;

-- Everything that happened, in the order (fence, ordinal). `accepted` is not stored: the validation itself says it.
CREATE TABLE timeline (
    bucket           smallint    NOT NULL,
    accepted_on      date        NOT NULL,
    id               uuid        NOT NULL,
    fence            integer     NOT NULL,
    ordinal          smallint    NOT NULL,
    at               timestamptz NOT NULL,
    recorded_at      timestamptz NOT NULL DEFAULT now(),
    event            smallint    NOT NULL,
    upstream_status  smallint,
    latency_ms       integer,
    instance         text        NOT NULL,
    detail           text,
    PRIMARY KEY (bucket, accepted_on, id, fence, ordinal)
) PARTITION BY RANGE (accepted_on);
CREATE TABLE timeline_default PARTITION OF timeline DEFAULT;
-- The change feed: how a process learns once a tick of what the others have settled.
CREATE INDEX timeline_changes ON timeline (recorded_at) WHERE event < 10;

-- One row for each purchase that is being pursued; it goes when nothing is left to do. `due_at` is the next step's time
-- or, while a worker holds the row, the end of its lease. `fence` grows with every claim: a write that names an old one
-- changes nothing.
CREATE TABLE pursuits (
    bucket           smallint    NOT NULL,
    id               uuid        NOT NULL,
    accepted_on      date        NOT NULL,
    due_at           timestamptz NOT NULL,
    accepted_at      timestamptz NOT NULL,
    deadline         timestamptz NOT NULL,
    retry_at         timestamptz,
    read_at          timestamptz,
    forwarded_at     timestamptz,
    fence            integer     NOT NULL DEFAULT 0,
    forwards         integer     NOT NULL DEFAULT 0,
    status           smallint    NOT NULL DEFAULT 0,
    phase            smallint    NOT NULL DEFAULT 0 CHECK (phase BETWEEN 0 AND 2),
    sending          boolean     NOT NULL DEFAULT false,
    entitled_before  boolean,
    publisher        text        NOT NULL,
    subscription_key text        NOT NULL,
    customer         text        NOT NULL,
    owner            text,
    PRIMARY KEY (bucket, id),
    CHECK (NOT sending OR phase = 0)
) WITH (
    fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX pursuits_due ON pursuits (due_at);
CREATE INDEX pursuits_customer ON pursuits (customer) WHERE phase = 1;
CREATE INDEX pursuits_subscription ON pursuits (bucket, subscription_key, accepted_at);
-- Requests for one subscription go upstream one at a time: the database itself refuses a second sender.
CREATE UNIQUE INDEX pursuits_one_sender ON pursuits (bucket, publisher, subscription_key) WHERE sending;

-- One row for each distinct purchase: which validation speaks for it now. The bucket is that of the key.
CREATE TABLE purchases (
    bucket       smallint    NOT NULL,
    key          bytea       NOT NULL CHECK (octet_length(key) = 32),
    validation_bucket smallint NOT NULL,
    accepted_on  date        NOT NULL,
    id           uuid        NOT NULL,
    deadline     timestamptz NOT NULL,
    status       smallint    NOT NULL,
    PRIMARY KEY (bucket, key)
) WITH (fillfactor = 80);

-- What an Idempotency-Key first made. A statement that finds the key used for another body sets `id` to null, and so fails
-- as a whole, by a constraint that says why.
CREATE TABLE idempotency_keys (
    bucket       smallint    NOT NULL,
    api_key      text        NOT NULL,
    key          bytea       NOT NULL CHECK (octet_length(key) = 32),
    fingerprint  bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    validation_bucket smallint NOT NULL,
    accepted_on  date        NOT NULL,
    id           uuid        CONSTRAINT idempotency_key_reused CHECK (id IS NOT NULL),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (bucket, api_key, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- When a customer's entitlement was last read, by whichever copy.
CREATE TABLE entitlement_reads (
    bucket     smallint    NOT NULL,
    publisher  text        NOT NULL,
    customer   text        NOT NULL,
    read_at    timestamptz NOT NULL,
    PRIMARY KEY (bucket, publisher, customer)
) WITH (fillfactor = 70);

-- Who owns which subscription.
CREATE TABLE subscriptions (
    bucket               smallint    NOT NULL,
    publisher            text        NOT NULL,
    environment          text        NOT NULL,
    subscription_key     text        NOT NULL,
    customer             text        NOT NULL,
    email                text        NOT NULL,
    application_username text        NOT NULL,
    app                  text        NOT NULL,
    offer_id             text        NOT NULL,
    product_id           text,
    accepted_on          date        NOT NULL,                      -- of the validation that made the owner
    id                   uuid        NOT NULL,
    accepted_at          timestamptz NOT NULL,
    owned_since          timestamptz NOT NULL,
    expires_at           timestamptz,
    -- The owner before, for the transaction that moves it.
    previous_customer    text,
    previous_accepted_on date,
    previous_id          uuid,
    PRIMARY KEY (bucket, publisher, environment, subscription_key)
) WITH (fillfactor = 80);
CREATE INDEX subscriptions_customer ON subscriptions (customer, offer_id);

CREATE TABLE transfers (
    bucket             smallint    NOT NULL,
    publisher          text        NOT NULL,
    environment        text        NOT NULL,
    subscription_key   text        NOT NULL,
    to_id              uuid        NOT NULL,
    to_accepted_on     date        NOT NULL,
    from_id            uuid        NOT NULL,
    from_accepted_on   date        NOT NULL,
    from_customer      text        NOT NULL,
    to_customer        text        NOT NULL,
    at                 timestamptz NOT NULL,
    PRIMARY KEY (bucket, publisher, environment, subscription_key, to_id)
);

-- Customers whose purchases changed and whose publisher must be told: one row a customer, the newest change. Written in
-- the transaction that changed them.
CREATE TABLE outbox (
    bucket      smallint    NOT NULL,
    publisher   text        NOT NULL,
    customer    text        NOT NULL,
    reason      text        NOT NULL,
    accepted_on date        NOT NULL,
    id          uuid        NOT NULL,
    queued_at   timestamptz NOT NULL,
    version     bigint      NOT NULL DEFAULT 1,
    PRIMARY KEY (bucket, publisher, customer)
);

-- What each running copy says of itself and of the upstream as it sees it.
CREATE TABLE instances (
    id             text        NOT NULL PRIMARY KEY,
    role           text        NOT NULL,
    started_at     timestamptz NOT NULL,
    seen_at        timestamptz NOT NULL,
    upstream_state text        NOT NULL CHECK (upstream_state IN ('ok', 'degraded', 'down', 'misconfigured')),
    upstream_since timestamptz NOT NULL,
    upstream_error text
);
