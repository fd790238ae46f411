-- What the App Store tells of its own accord, the life of each subscription that comes of it, and the way on to Cleeng.
--
-- Safe for the version before: what it accepts has no `period`, so its purchases enter the ledger with the store's next
-- word; environments that it still spells as receipts do (`ProductionSandbox`) are other subscriptions until it is gone.

-- When it was written, and not when its transaction began: a transaction that has to wait in the middle, or whose copy is
-- stopped there, would else be passed over by those who look for what is new.
ALTER TABLE timeline ALTER COLUMN recorded_at SET DEFAULT clock_timestamp();

-- What the receipt says of its subscription, as the ledger takes it (JSON); null where it says nothing that may be believed.
ALTER TABLE validations ADD COLUMN period text;

-- A subscription that has moved to another id takes its validation along, which stays in its own bucket: null where that is
-- the row's.
ALTER TABLE subscriptions
    ADD COLUMN validation_bucket smallint,
    ADD COLUMN previous_bucket   smallint;
ALTER TABLE transfers ADD COLUMN from_bucket smallint;
CREATE INDEX transfers_newest ON transfers (at, to_id);

-- Every genuine notification, as it came. `relay`: 0 is passed on to nobody, 1 waits to be, 2 is delivered.
CREATE TABLE notifications (
    bucket            smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    accepted_on       date        NOT NULL,
    id                uuid        NOT NULL,
    received_at       timestamptz NOT NULL,
    said_at           timestamptz NOT NULL,
    version           smallint    NOT NULL CHECK (version IN (1, 2)),
    relay             smallint    NOT NULL CHECK (relay BETWEEN 0 AND 2),
    relay_attempts    integer     NOT NULL DEFAULT 0,
    relayed_at        timestamptz,
    publisher         text        NOT NULL,
    environment       text        NOT NULL,
    type              text        NOT NULL,
    subtype           text,
    notification_uuid text,
    bundle_id         text,
    subscription_key  text,
    relay_error       text,
    body              bytea       NOT NULL,
    PRIMARY KEY (bucket, accepted_on, id),
    CHECK ((relay = 2) = (relayed_at IS NOT NULL))
) PARTITION BY RANGE (accepted_on);
CREATE TABLE notifications_default PARTITION OF notifications DEFAULT;
ALTER TABLE notifications ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX notifications_newest ON notifications (received_at, id);
CREATE INDEX notifications_subscription ON notifications (bucket, subscription_key, received_at);

-- Which notifications have come already. The bucket is that of the name.
CREATE TABLE notification_names (
    bucket      smallint NOT NULL,
    name        bytea    NOT NULL CHECK (octet_length(name) = 32),
    accepted_on date     NOT NULL,
    id          uuid     NOT NULL,
    PRIMARY KEY (bucket, name)
);
CREATE INDEX notification_names_age ON notification_names (accepted_on);

-- What is still to be passed on: of one subscription one at a time, in the order in which it was said. `lane` is the
-- subscription's key, or the notification's own id where it is about none. Claimed like a pursuit: `due_at` is the next try
-- or, while `owner` holds it, the end of the lease.
CREATE TABLE notification_relays (
    bucket      smallint    NOT NULL,
    id          uuid        NOT NULL,
    accepted_on date        NOT NULL,
    due_at      timestamptz NOT NULL,
    said_at     timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    fence       integer     NOT NULL DEFAULT 0,
    attempts    integer     NOT NULL DEFAULT 0,
    -- Refused for what is in it: it lets the later ones of its subscription pass.
    stands_aside boolean    NOT NULL DEFAULT false,
    -- An operator wants it sent once more after the try that is under way.
    again       boolean     NOT NULL DEFAULT false,
    publisher   text        NOT NULL,
    environment text        NOT NULL,
    lane        text        NOT NULL,
    owner       text,
    trouble     text,
    PRIMARY KEY (bucket, id)
) WITH (fillfactor = 70);
CREATE INDEX notification_relays_due ON notification_relays (due_at);
CREATE INDEX notification_relays_lane ON notification_relays (bucket, lane, said_at, received_at);
-- The database itself refuses to have two of one subscription under way.
CREATE UNIQUE INDEX notification_relays_one_sender ON notification_relays (bucket, publisher, environment, lane)
    WHERE owner IS NOT NULL AND NOT stands_aside;

-- The life of each subscription: `state` is what was told of it (JSON), the rest what follows from it as of `heard_at`.
-- `due_at`: when it has to be looked at again without anybody's word. `granted_at`: when Cleeng last granted on it.
CREATE TABLE ledgers (
    bucket                smallint    NOT NULL,
    publisher             text        NOT NULL,
    environment           text        NOT NULL,
    subscription_key      text        NOT NULL,
    heard_at              timestamptz NOT NULL,
    due_at                timestamptz,
    granted_at            timestamptz,
    expires_at            timestamptz,
    status                smallint    CHECK (status BETWEEN 1 AND 5),
    will_renew            boolean,
    product_id            text,
    auto_renew_product_id text,
    reason                text,
    bundle_id             text,
    trouble               text,
    -- The ids that it went by before, with their buckets: `BUCKET:ID`, with spaces between.
    predecessors          text,
    state                 text,
    PRIMARY KEY (bucket, publisher, environment, subscription_key)
) WITH (fillfactor = 70);
CREATE INDEX ledgers_due ON ledgers (due_at) WHERE due_at IS NOT NULL;

-- What happened to a subscription, as ops reads it. `said_at`: when whoever knew said so.
CREATE TABLE subscription_events (
    bucket           smallint    NOT NULL,
    accepted_on      date        NOT NULL,
    id               uuid        NOT NULL,
    recorded_at      timestamptz NOT NULL,
    said_at          timestamptz NOT NULL,
    expires_at       timestamptz,
    status           smallint    CHECK (status BETWEEN 1 AND 5),
    publisher        text        NOT NULL,
    environment      text        NOT NULL,
    subscription_key text        NOT NULL,
    event            text        NOT NULL,
    detail           text,
    notification     uuid,
    PRIMARY KEY (bucket, accepted_on, id)
) PARTITION BY RANGE (accepted_on);
CREATE TABLE subscription_events_default PARTITION OF subscription_events DEFAULT;
CREATE INDEX subscription_events_subscription ON subscription_events (bucket, subscription_key, recorded_at);

-- One name for each environment, however a receipt or a transaction spells it. Where both spellings have an owner, the one
-- of the newer purchase stays.
DELETE FROM subscriptions s
USING subscriptions o
WHERE s.bucket = o.bucket AND s.publisher = o.publisher AND s.subscription_key = o.subscription_key
  AND s.environment IN ('ProductionSandbox', 'ProductionVPPSandbox', 'Sandbox')
  AND o.environment IN ('ProductionSandbox', 'ProductionVPPSandbox', 'Sandbox')
  AND (s.accepted_at, s.environment) < (o.accepted_at, o.environment);
DELETE FROM subscriptions s
USING subscriptions o
WHERE s.bucket = o.bucket AND s.publisher = o.publisher AND s.subscription_key = o.subscription_key
  AND s.environment IN ('Production', 'ProductionVPP') AND o.environment IN ('Production', 'ProductionVPP')
  AND (s.accepted_at, s.environment) < (o.accepted_at, o.environment);
UPDATE subscriptions SET environment = 'Sandbox' WHERE environment IN ('ProductionSandbox', 'ProductionVPPSandbox');
UPDATE subscriptions SET environment = 'Production' WHERE environment = 'ProductionVPP';
UPDATE validations SET environment = 'Sandbox' WHERE environment IN ('ProductionSandbox', 'ProductionVPPSandbox');
UPDATE validations SET environment = 'Production' WHERE environment = 'ProductionVPP';
UPDATE transfers SET environment = 'Sandbox' WHERE environment IN ('ProductionSandbox', 'ProductionVPPSandbox');
UPDATE transfers SET environment = 'Production' WHERE environment = 'ProductionVPP';
