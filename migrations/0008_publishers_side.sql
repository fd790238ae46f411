-- What a publisher's back end sees: purchases by the publisher's own name for a customer, and who has to be told of a change.
--
-- While the version before still runs: it goes on writing `outbox`, which copies that know both empty into `customers` every
-- minute; it cannot make sense of subscriptions that have an owner by name alone, and sends purchases of other stores as if they
-- were Apple's. So its workers are stopped before apps call `/v1/validate`, `/android/payment` or `/amazon/payment` (CHANGELOG).

-- A purchase may enter the ledger for somebody of whom only the publisher's own name is known, and whom Cleeng has not been
-- told of: then there is no validation, no email and no offer, and `accepted_at` is 1970, so that any grant comes later.
-- `previous_username`: the owner before, as `previous_customer` is.
ALTER TABLE subscriptions
    ALTER COLUMN customer DROP NOT NULL,
    ALTER COLUMN email DROP NOT NULL,
    ALTER COLUMN offer_id DROP NOT NULL,
    ALTER COLUMN accepted_on DROP NOT NULL,
    ALTER COLUMN id DROP NOT NULL,
    ADD COLUMN previous_username text,
    ADD CONSTRAINT subscriptions_validation_check
        CHECK (num_nulls(customer, email, offer_id, accepted_on, id) IN (0, 5));
CREATE INDEX subscriptions_username ON subscriptions (publisher, application_username);

-- One row for each customer whose purchases ever changed: the newest change, and whether the publisher still has to be told of
-- it. Written in the transaction that changed them. `changed_at` is when it was written, and not when its transaction began
-- (see `timeline.recorded_at`). `version` grows with each change: of two states of a customer the greater one is newer.
CREATE TABLE customers (
    bucket           smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    publisher        text        NOT NULL,
    username         text        NOT NULL,
    changed_at       timestamptz NOT NULL,
    version          bigint      NOT NULL DEFAULT 1,
    untold_since     timestamptz,
    -- What happened to which subscription, as the publisher's webhooks name it.
    reason           text        NOT NULL,
    environment      text,
    subscription_key text,
    PRIMARY KEY (bucket, publisher, username)
) WITH (fillfactor = 70);
CREATE INDEX customers_untold ON customers (untold_since) WHERE untold_since IS NOT NULL;
CREATE INDEX customers_changed ON customers (changed_at);

-- What a publisher sells at Cleeng, and as which product of which store (`apple:PRODUCT`, `google:…`, `amazon:…`).
CREATE TABLE offers (
    publisher  text        NOT NULL REFERENCES publishers (id),
    offer_id   text        NOT NULL,
    name       text        NOT NULL DEFAULT '',
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (publisher, offer_id)
);
CREATE TABLE offer_products (
    publisher  text NOT NULL,
    product_id text NOT NULL CHECK (product_id ~ '^(apple|google|amazon):.'),
    offer_id   text NOT NULL,
    PRIMARY KEY (publisher, product_id, offer_id),
    FOREIGN KEY (publisher, offer_id) REFERENCES offers (publisher, offer_id) ON DELETE CASCADE
);
CREATE INDEX offer_products_offer ON offer_products (publisher, offer_id);
-- Coupons that Cleeng knows for an offer. A code is compared as Cleeng does, without regard to case.
CREATE TABLE offer_coupons (
    publisher  text NOT NULL,
    code       text NOT NULL,
    offer_id   text NOT NULL,
    campaign   text NOT NULL DEFAULT '',
    PRIMARY KEY (publisher, code, offer_id),
    FOREIGN KEY (publisher, offer_id) REFERENCES offers (publisher, offer_id) ON DELETE CASCADE
);
