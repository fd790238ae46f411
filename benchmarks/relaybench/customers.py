"""Customers with subscriptions whose whole life is known, written by sets instead of one purchase at a time."""

from .postgres import Postgres

PUBLISHER = "main"

# What a granted purchase leaves behind, with a ledger that has heard of it and of two renewals. Buckets of purchases
# are spread evenly instead of being hashes; those of customers are right, since the relay computes them anew.
CUSTOMERS = """
CREATE TEMPORARY TABLE owned AS
SELECT c.n, c.username, k, (c.n * {each} + k)::int AS number, ((c.n * {each} + k) % 256)::int2 AS bucket,
       gen_random_uuid() AS id, (now() AT TIME ZONE 'UTC')::date AS accepted_on,
       date_trunc('second', now()) - interval '70 days' - k * interval '1 hour' AS bought_at,
       (200000000000000 + c.n * {each} + k)::text AS digits,
       'com.example.app.product_' || lpad(k::text, 3, '0') AS product
FROM bench_customers c, generate_series(1, {each}) AS k;

CREATE TEMPORARY TABLE lives AS
SELECT o.*, p.state, p.newest, p.expires_at
FROM owned o
CROSS JOIN LATERAL (
    SELECT jsonb_build_object(
               'periods', jsonb_object_agg(p.period ->> 'id', p.period), 'movedFrom', '[]'::jsonb,
               'renewal', jsonb_build_object(
                   'isInBillingRetry', false, 'willRenew', true, 'productID', o.product,
                   'toldAt', max((p.period ->> 'toldAt')::int8)))::text AS state,
           (array_agg(p.period ORDER BY p.nth DESC))[1]::text AS newest,
           max(p.expires_at) AS expires_at
    FROM (
        SELECT nth, o.bought_at + (nth + 1) * interval '30 days' AS expires_at,
               jsonb_build_object(
                   'id', (o.number::int8 * 10 + nth)::text, 'productID', o.product, 'isUpgraded', false,
                   'replacesEarlier', false, 'isTrial', false, 'isIntro', false,
                   'transactionID', (300000000000000 + o.number::int8 * 10 + nth)::text,
                   'purchasedAt', (extract(epoch FROM o.bought_at + nth * interval '30 days') * 1000000)::int8,
                   'expiresAt', (extract(epoch FROM o.bought_at + (nth + 1) * interval '30 days') * 1000000)::int8,
                   'originalPurchasedAt', (extract(epoch FROM o.bought_at) * 1000000)::int8,
                   'toldAt', (extract(epoch FROM o.bought_at + nth * interval '30 days') * 1000000)::int8) AS period
        FROM generate_series(0, 2) AS nth
    ) AS p
) AS p;

INSERT INTO validations (
    bucket, accepted_on, id, accepted_at, deadline, settled_at, expires_at, status, receipt_readable, entitled_before,
    forwards, publisher, app, email, customer, application_username, offer_id, transaction_id, app_type, ip_address,
    subscription_key, environment, product_id, bundle_id, purchase_key, period, evidence)
SELECT bucket, accepted_on, id, now() - interval '1 minute', now(), now() - interval '50 seconds', expires_at, 1, true,
       false, 1, '{publisher}', '', username || '@example.test', username || '@example.test', username, 'S123456789_US',
       digits, 'ios', '127.0.0.1', digits, 'Production', product, 'com.example.app', sha256(convert_to(digits, 'UTF8')),
       newest, '{{"offerId":"S123456789_US","source":"entitlements","status":"active"}}'
FROM lives;

INSERT INTO subscriptions (
    bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id, product_id,
    accepted_on, id, accepted_at, owned_since, expires_at)
SELECT bucket, '{publisher}', 'Production', digits, username || '@example.test', username || '@example.test',
       username, '', 'S123456789_US', product, accepted_on, id, now() - interval '1 minute',
       now() - interval '50 seconds', expires_at
FROM lives;

INSERT INTO ledgers (
    bucket, publisher, environment, subscription_key, heard_at, due_at, granted_at, expires_at, status, will_renew,
    product_id, auto_renew_product_id, bundle_id, state)
SELECT bucket, '{publisher}', 'Production', digits, now(), expires_at, now() - interval '50 seconds', expires_at, 1,
       true, product, product, 'com.example.app', state
FROM lives;

INSERT INTO customers (bucket, publisher, username, changed_at, reason, environment, subscription_key)
SELECT c.bucket, '{publisher}', c.username, now() - interval '1 hour', 'PURCHASED', 'Production', l.digits
FROM bench_customers c JOIN lives l ON l.n = c.n AND l.k = 1;
"""


def bucket(*parts: str) -> int:
    """As `Bucket` in Sources/Core/RelayCore has it."""
    value, prime, mask = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
    for part in parts:
        for byte in part.encode():
            value = (value ^ byte) * prime & mask
        value = value * prime & mask
    value ^= value >> 32
    value ^= value >> 16
    return (value ^ (value >> 8)) & 0xFF


def seed_customers(postgres: Postgres, database: str, count: int, each: int) -> list[str]:
    """So many customers with so many subscriptions each, all of them running; `bench_customers` lists them."""
    names = [f"customer-{number:06d}" for number in range(count)]
    rows = ",".join(f"({n},{bucket(PUBLISHER, name)},'{name}')" for n, name in enumerate(names, 1))
    postgres.run(
        database,
        f"""CREATE TABLE bench_customers (n int PRIMARY KEY, bucket smallint NOT NULL, username text NOT NULL);
        INSERT INTO bench_customers VALUES {rows};
        INSERT INTO publishers (id) VALUES ('{PUBLISHER}') ON CONFLICT DO NOTHING;
        {CUSTOMERS.format(each=each, publisher=PUBLISHER)}""",
    )
    postgres.vacuum(database)
    postgres.run(database, "CHECKPOINT")
    return names
