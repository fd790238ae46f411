-- What Cleeng tells of its own accord, and the number by which Cleeng knows a customer.
--
-- Safe for the version before: it leaves the new column empty.

ALTER TABLE validations ADD COLUMN cleeng_customer bigint CHECK (cleeng_customer > 0);
CREATE INDEX validations_cleeng_customer ON validations (cleeng_customer, offer_id, accepted_at)
    WHERE cleeng_customer IS NOT NULL;

-- Every event whose signature was good, as it came. `due_at`: when it is to be acted on, or the end of the lease of who does;
-- null once that is over, and then `outcome` says what came of it.
CREATE TABLE cleeng_events (
    bucket      smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    accepted_on date        NOT NULL,
    id          uuid        NOT NULL,
    received_at timestamptz NOT NULL,
    due_at      timestamptz,
    attempts    integer     NOT NULL DEFAULT 0,
    topic       text        NOT NULL,
    outcome     text,
    body        bytea       NOT NULL,
    PRIMARY KEY (bucket, accepted_on, id)
) PARTITION BY RANGE (accepted_on);
CREATE TABLE cleeng_events_default PARTITION OF cleeng_events DEFAULT;
CREATE INDEX cleeng_events_due ON cleeng_events (due_at) WHERE due_at IS NOT NULL;
