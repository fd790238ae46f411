-- Apple's requests to say how a purchase was used, after its customer has asked for a refund; and what publishers say of their customers for the
-- answers.
--
-- Safe for the version before: it does not know the tables.

-- One row for each such notification, by the notification's own id. `state`: 1 to be answered, 2 the customer's consent is waited for, 3 answered,
-- 4 ended without consent, 5 Apple does not take the answer, 6 ended without an answer that got through.
-- Claimed like a pursuit: `due_at` is the next try or, while `owner` holds it, the end of the lease. `signals` counts what the publisher said
-- of the customer: what comes while a row is worked on has it looked at again. `username`: the customer, once that is known.
-- `answer`: what Apple has taken, or refused.
CREATE TABLE consumption_requests (
    bucket           smallint    NOT NULL,
    state            smallint    NOT NULL DEFAULT 1 CHECK (state BETWEEN 1 AND 6),
    strikes          smallint    NOT NULL DEFAULT 0,
    failures         smallint    NOT NULL DEFAULT 0,
    fence            integer     NOT NULL DEFAULT 0,
    attempts         integer     NOT NULL DEFAULT 0,
    signals          integer     NOT NULL DEFAULT 0,
    sealed_by        integer,
    accepted_on      date        NOT NULL,
    renews           boolean     NOT NULL,
    id               uuid        NOT NULL,
    due_at           timestamptz NOT NULL,
    asked_at         timestamptz NOT NULL,
    deadline         timestamptz NOT NULL,
    ended_at         timestamptz,
    parked_at        timestamptz,
    publisher        text        NOT NULL,
    environment      text        NOT NULL,
    subscription_key text        NOT NULL,
    transaction_id   text        NOT NULL,
    bundle_id        text        NOT NULL,
    reason           text,
    username         text,
    owner            text,
    trouble          text,
    answer           text,
    trace            text,
    PRIMARY KEY (bucket, accepted_on, id)
) WITH (fillfactor = 70);
CREATE INDEX consumption_requests_due ON consumption_requests (environment, due_at) WHERE state <= 2 AND parked_at IS NULL;
CREATE INDEX consumption_requests_customer ON consumption_requests (publisher, username) WHERE username IS NOT NULL;
CREATE INDEX consumption_requests_parked ON consumption_requests (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX consumption_requests_newest ON consumption_requests (asked_at, id);

-- What a publisher says of a customer. `percentage` is in thousandths of a percent, as Apple has it.
CREATE TABLE consumption_facts (
    bucket            smallint    NOT NULL,
    percentage        integer     CHECK (percentage BETWEEN 0 AND 100000),
    sealed_by         integer,
    consented         boolean     NOT NULL,
    sample            boolean     NOT NULL,
    changed_at        timestamptz NOT NULL,
    publisher         text        NOT NULL,
    username          text        NOT NULL,
    refund_preference text,
    user_status       text,
    PRIMARY KEY (bucket, publisher, username)
);
