-- Events, messages to endpoints, notifications and subscriptions that cannot be processed are parked with the reason, as purchases are.
--
-- `strikes`: claims since a worker last gave the row back; each may have ended its process. `failures`: times in a row that it could not be
-- processed for what is in it. `trouble`: the last error. `parked_at`: since when it waits for an operator; it is never due then (`due_at` is
-- null, or infinity where that is not allowed).
--
-- Safe for the version before: every column has a default. It counts nothing, and takes nothing up that is not due.

ALTER TABLE cleeng_events
    ADD COLUMN strikes   smallint NOT NULL DEFAULT 0,
    ADD COLUMN failures  smallint NOT NULL DEFAULT 0,
    ADD COLUMN parked_at timestamptz,
    ADD COLUMN trouble   text;
CREATE INDEX cleeng_events_parked ON cleeng_events (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX cleeng_events_newest ON cleeng_events (received_at, id);

ALTER TABLE webhook_queue
    ADD COLUMN strikes   smallint NOT NULL DEFAULT 0,
    ADD COLUMN failures  smallint NOT NULL DEFAULT 0,
    ADD COLUMN parked_at timestamptz,
    ADD COLUMN trouble   text;
CREATE INDEX webhook_queue_parked ON webhook_queue (parked_at) WHERE parked_at IS NOT NULL;

ALTER TABLE notification_relays
    ADD COLUMN strikes   smallint NOT NULL DEFAULT 0,
    ADD COLUMN failures  smallint NOT NULL DEFAULT 0,
    ADD COLUMN parked_at timestamptz;
CREATE INDEX notification_relays_parked ON notification_relays (parked_at) WHERE parked_at IS NOT NULL;

ALTER TABLE ledgers
    ADD COLUMN strikes   smallint NOT NULL DEFAULT 0,
    ADD COLUMN failures  smallint NOT NULL DEFAULT 0,
    ADD COLUMN parked_at timestamptz;
CREATE INDEX ledgers_parked ON ledgers (parked_at) WHERE parked_at IS NOT NULL;
