-- Notifications of the other stores. One says only that something has happened to a purchase: the store is asked how the purchase stands.
--
-- Safe for the version before: `store` has a default, and what it does not know it does not read. The ledgers are read once, before
-- anything is locked that the service writes.

-- A purchase that its store has to be asked about: it has sent word of it, or something was granted on it that the store wants to hear of.
-- `signals` counts these: one that comes while the store is being asked has it asked again. `event`, `said_at`, `accepted_on` and
-- `notification` are those of the newest one; the last two are null after a grant.
-- `expects`: what was said at `expected_at`: 1 that it is over, 2 that it runs; null: neither. An answer that says otherwise may come too early,
-- and is doubted `doubts` times.
-- Claimed like a pursuit: `due_at` is the next try or, while `owner` holds it, the end of the lease. `environment` is `unknown`, for only the
-- store's answer says which it is. `bundle_id` and `product_id` are what the store finds the purchase by; null where only the ledger knows.
CREATE TABLE store_questions (
    bucket           smallint    NOT NULL,
    strikes          smallint    NOT NULL DEFAULT 0,
    failures         smallint    NOT NULL DEFAULT 0,
    expects          smallint    CHECK (expects IN (1, 2)),
    doubts           smallint    NOT NULL DEFAULT 0,
    fence            integer     NOT NULL DEFAULT 0,
    attempts         integer     NOT NULL DEFAULT 0,
    signals          integer     NOT NULL DEFAULT 1,
    due_at           timestamptz NOT NULL,
    received_at      timestamptz NOT NULL,
    said_at          timestamptz NOT NULL,
    parked_at        timestamptz,
    expected_at      timestamptz,
    accepted_on      date,
    notification     uuid,
    publisher        text        NOT NULL,
    environment      text        NOT NULL,
    subscription_key text        NOT NULL,
    store            text        NOT NULL,
    event            text        NOT NULL,
    bundle_id        text,
    product_id       text,
    owner            text,
    trouble          text,
    trace            text,
    PRIMARY KEY (bucket, publisher, environment, subscription_key)
) WITH (fillfactor = 70);
CREATE INDEX store_questions_fresh ON store_questions (store, due_at) WHERE parked_at IS NULL AND attempts <= 3;
CREATE INDEX store_questions_tired ON store_questions (store, due_at) WHERE parked_at IS NULL AND attempts > 3;
CREATE INDEX store_questions_parked ON store_questions (parked_at) WHERE parked_at IS NOT NULL;

-- Google's apps, whose voided purchases are asked for now and then. `swept_until`: until when nothing is missing; null where nobody has asked
-- yet. `due_at`: the next time or, while a copy asks, the end of its lease; each claim has a new one, which tells it from the others.
CREATE TABLE store_sweeps (
    due_at      timestamptz NOT NULL DEFAULT now(),
    swept_until timestamptz,
    swept_at    timestamptz,
    publisher   text        NOT NULL,
    store       text        NOT NULL,
    app         text        NOT NULL,
    trouble     text,
    PRIMARY KEY (publisher, store, app)
);
INSERT INTO store_sweeps (publisher, store, app)
SELECT DISTINCT l.publisher, 'google', l.bundle_id
FROM ledgers l
WHERE l.subscription_key LIKE 'google:%' AND l.bundle_id IS NOT NULL;

-- When a store last sent a notification, at most ten seconds late.
CREATE TABLE store_standings (
    notified_at timestamptz NOT NULL,
    publisher   text        NOT NULL,
    store       text        NOT NULL,
    PRIMARY KEY (publisher, store)
);

-- Which store sent it. Last: nobody writes a notification until this is committed.
ALTER TABLE notifications ADD COLUMN store text NOT NULL DEFAULT 'apple';
