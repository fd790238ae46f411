-- Which store's subscriptions a publisher has made contracts of: what was checked, the orders, the contracts, and for whom.
--
-- Ids have 24 hexadecimal digits; the last two are the bucket, so that a look-up by id alone reaches one. All but an external
-- subscription's begin with the second in which they were made: lists go by id, and so by time.
--
-- Safe for the version before: it knows none of these tables, and leaves `ledgers.transaction_id` as it is.

-- By which a client proves that it once had the key: its SHA-256. Null until the first one was asked for.
ALTER TABLE api_keys ADD COLUMN token_digest bytea CHECK (octet_length(token_digest) = 32);

-- The store's number of the newest transaction, where it is another than the subscription's.
ALTER TABLE ledgers ADD COLUMN transaction_id text;
CREATE INDEX ledgers_transaction ON ledgers (publisher, transaction_id) WHERE transaction_id IS NOT NULL;

-- What was checked last, so that an order can name it. The id follows from the next four columns (a digest of them): the same
-- subscription has the same for ever. `word`: what the store said of it (JSON), and when, for the ledger
-- to hear with the commit; null where the ledger knew it already.
CREATE TABLE external_subscriptions (
    bucket           smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id               text        NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
    publisher        text        NOT NULL,
    platform         text        NOT NULL,
    environment      text        NOT NULL,
    subscription_key text        NOT NULL,
    checked_at       timestamptz NOT NULL,
    is_trial         boolean     NOT NULL,
    product_id       text,
    bundle_id        text,
    said_at          timestamptz,
    word             text,
    PRIMARY KEY (bucket, id)
);

-- `details`: what the publisher gave of the customer (JSON, an object).
CREATE TABLE billing_customers (
    bucket      smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id          text        NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
    publisher   text        NOT NULL,
    created_at  timestamptz NOT NULL,
    details     text        NOT NULL,
    PRIMARY KEY (bucket, id)
);
CREATE INDEX billing_customers_list ON billing_customers (publisher, id);

-- `type`: 1 a contract of its own, 2 into one that there is. `state`: 1 is in progress, 2 is completed.
CREATE TABLE orders (
    bucket                smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id                    text        NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
    publisher             text        NOT NULL,
    customer              text        NOT NULL,
    contract              text        NOT NULL,
    external_subscription text        NOT NULL,
    type                  smallint    NOT NULL CHECK (type IN (1, 2)),
    state                 smallint    NOT NULL CHECK (state IN (1, 2)),
    created_at            timestamptz NOT NULL,
    completed_at          timestamptz,
    PRIMARY KEY (bucket, id),
    CHECK ((state = 2) = (completed_at IS NOT NULL))
);
CREATE INDEX orders_list ON orders (publisher, id);

CREATE TABLE contracts (
    bucket     smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    id         text        NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
    publisher  text        NOT NULL,
    customer   text        NOT NULL,
    platform   text        NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (bucket, id)
);
CREATE INDEX contracts_list ON contracts (publisher, id);
CREATE INDEX contracts_customer ON contracts (customer, id);

-- Of which contract an external subscription is: the database itself refuses a second one. It has further rows after an
-- upgrade, and where the store goes on with a subscription under another name. `ledger_bucket`: where its ledger is.
CREATE TABLE contract_subscriptions (
    bucket                smallint    NOT NULL CHECK (bucket BETWEEN 0 AND 255),
    external_subscription text        NOT NULL,
    publisher             text        NOT NULL,
    contract              text        NOT NULL,
    customer              text        NOT NULL,
    platform              text        NOT NULL,
    environment           text        NOT NULL,
    subscription_key      text        NOT NULL,
    ledger_bucket         smallint    NOT NULL,
    added_at              timestamptz NOT NULL,
    PRIMARY KEY (bucket, external_subscription)
);
CREATE INDEX contract_subscriptions_contract ON contract_subscriptions (contract);
CREATE INDEX contract_subscriptions_key ON contract_subscriptions (subscription_key);
