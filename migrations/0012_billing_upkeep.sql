-- Billing's lists go by when a row was written, and what nobody came back to is found when its time is over.
--
-- Safe for the version before: its lists, by id, are right without their indexes, and it passes over the new column.

-- An id is made before its row is written, a contract's with its order even: by ids alone a row that is written later than one with a
-- greater id would be passed over by who goes on from that.
CREATE INDEX orders_written ON orders (publisher, created_at, id);
CREATE INDEX contracts_written ON contracts (publisher, created_at, id);
CREATE INDEX contracts_customer_written ON contracts (customer, created_at, id);
CREATE INDEX billing_customers_written ON billing_customers (publisher, created_at, id);
DROP INDEX orders_list, contracts_list, contracts_customer, billing_customers_list;

-- Orders that were never committed.
CREATE INDEX orders_open ON orders (created_at) WHERE state = 1;

-- `checked_at` is from now on when it was last checked, ordered or committed: whatever is of it is no younger.
UPDATE external_subscriptions e
SET checked_at = o.newest
FROM (
    SELECT get_byte(decode(external_subscription, 'hex'), 11) AS bucket, external_subscription AS id,
           max(coalesce(completed_at, created_at)) AS newest
    FROM orders
    GROUP BY 1, 2
) AS o
WHERE e.bucket = o.bucket AND e.id = o.id AND e.checked_at < o.newest;

-- Whether retention, when its time was over, found that it has a contract: it is kept, and need not be looked at again.
ALTER TABLE external_subscriptions ADD COLUMN has_contract boolean NOT NULL DEFAULT false;
CREATE INDEX external_subscriptions_unused ON external_subscriptions (checked_at) WHERE NOT has_contract;
