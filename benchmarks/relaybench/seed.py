"""Databases that have been in use for a while, written by sets instead of one purchase at a time."""

import contextlib
from collections.abc import Iterator

from .postgres import Postgres

# Consistent with what the relay writes, but for two things: receipts are short, and buckets are spread evenly instead
# of being hashes of the subscription, so only look-ups by id, purchase and due time are as they would be. All of today:
# one partition holds them all.
SEED = """
CREATE TEMPORARY TABLE seeded AS
SELECT n, (n % 256)::int2 AS bucket, gen_random_uuid() AS id, (now() AT TIME ZONE 'UTC')::date AS accepted_on,
       now() - interval '2 minutes' - n % 600000 * interval '1 millisecond' AS accepted_at,
       n % 1000 < {settled} AS settled, 'seed-' || n || '@example.test' AS customer,
       (100000000000000 + n)::text AS digits, sha256(convert_to('seed-' || n, 'UTF8')) AS key
FROM generate_series(1, {count}) AS n;

INSERT INTO validations (
    bucket, accepted_on, id, accepted_at, deadline, settled_at, expires_at, status, receipt_readable, entitled_before,
    forwards, publisher, app, email, customer, application_username, offer_id, transaction_id, app_type, ip_address,
    subscription_key, environment, product_id, bundle_id, purchase_key, evidence)
SELECT bucket, accepted_on, id, accepted_at,
       accepted_at + CASE WHEN settled THEN interval '1 minute' ELSE interval '1 day' END,
       CASE WHEN settled THEN accepted_at + interval '5 seconds' END,
       CASE WHEN settled THEN accepted_at + interval '30 days' END, CASE WHEN settled THEN 1 ELSE 0 END, true, false, 1,
       'main', '', customer, customer, customer, 'S123456789_US', digits, 'ios', '127.0.0.1', digits,
       'ProductionSandbox', 'com.example.app.weekly', 'com.example.app', key,
       CASE WHEN settled THEN '{{"offerId":"S123456789_US","source":"entitlements","status":"active"}}' END
FROM seeded;

INSERT INTO receipts (bucket, accepted_on, id, is_text, body)
SELECT bucket, accepted_on, id, false, key FROM seeded;

INSERT INTO purchases (bucket, key, validation_bucket, accepted_on, id, deadline, status)
SELECT get_byte(key, 0), key, bucket, accepted_on, id,
       accepted_at + CASE WHEN settled THEN interval '1 minute' ELSE interval '1 day' END,
       CASE WHEN settled THEN 1 ELSE 0 END
FROM seeded;

INSERT INTO pursuits (
    bucket, id, accepted_on, due_at, accepted_at, deadline, forwarded_at, read_at, fence, forwards, status, phase,
    entitled_before, publisher, subscription_key, customer)
SELECT bucket, id, accepted_on, now() + interval '6 hours' + n * interval '1 millisecond', accepted_at,
       accepted_at + interval '1 day', accepted_at, accepted_at, 1, 1, 0, 1, false, 'main', digits, customer
FROM seeded WHERE NOT settled;

INSERT INTO timeline (
    bucket, accepted_on, id, fence, ordinal, at, recorded_at, event, upstream_status, latency_ms, instance)
SELECT bucket, accepted_on, id, 1, e.ordinal, accepted_at, accepted_at, e.event, 200, 8, 'seed'
FROM seeded, (VALUES (0, 15), (1, 11), (2, 13), (3, 1)) AS e(ordinal, event)
WHERE settled OR e.event <> 1;

INSERT INTO subscriptions (
    bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id, product_id,
    accepted_on, id, accepted_at, owned_since, expires_at)
SELECT bucket, 'main', 'ProductionSandbox', digits, customer, customer, customer, '', 'S123456789_US',
       'com.example.app.weekly', accepted_on, id, accepted_at, accepted_at, accepted_at + interval '30 days'
FROM seeded WHERE settled;

INSERT INTO outbox (bucket, publisher, customer, reason, accepted_on, id, queued_at)
SELECT bucket, 'main', customer, 'PURCHASED', accepted_on, id, accepted_at FROM seeded WHERE settled;
"""


def seed(postgres: Postgres, database: str, count: int, settled_share: float = 0.7) -> None:
    """The rest is pending: forwarded, watched, and due in six hours."""
    postgres.run(database, SEED.format(count=count, settled=round(settled_share * 1000)))
    postgres.vacuum(database)
    postgres.run(database, "CHECKPOINT")


def public_ids(postgres: Postgres, database: str, count: int, status: int = 1) -> list[str]:
    rows = postgres.run(
        database,
        f"""SELECT lpad(to_hex(bucket::int), 2, '0') || lpad(to_hex(accepted_on - DATE 'epoch'), 4, '0')
                   || replace(id::text, '-', '')
            FROM (SELECT * FROM validations WHERE status = {status} ORDER BY purchase_key LIMIT {count}) v""",
    )
    return [row[0] for row in rows]


# By `validations_newest`, and from there by primary keys.
FORGET = """
CREATE TEMPORARY TABLE fresh AS
SELECT bucket, accepted_on, id, purchase_key, subscription_key, customer FROM validations
WHERE accepted_at >= '{since}' AND email NOT LIKE 'seed-%';
DELETE FROM pursuits p USING fresh f WHERE p.bucket = f.bucket AND p.id = f.id;
DELETE FROM receipts r USING fresh f WHERE r.bucket = f.bucket AND r.accepted_on = f.accepted_on AND r.id = f.id;
DELETE FROM timeline t USING fresh f WHERE t.bucket = f.bucket AND t.accepted_on = f.accepted_on AND t.id = f.id;
DELETE FROM purchases p USING fresh f WHERE p.bucket = get_byte(f.purchase_key, 0) AND p.key = f.purchase_key;
DELETE FROM subscriptions s USING fresh f
WHERE s.bucket = f.bucket AND s.publisher = 'main' AND s.environment = 'ProductionSandbox'
  AND s.subscription_key = f.subscription_key;
DELETE FROM outbox o USING fresh f WHERE o.publisher = 'main' AND o.customer = f.customer;
DELETE FROM entitlement_reads r USING fresh f WHERE r.publisher = 'main' AND r.customer = f.customer;
DELETE FROM validations v USING fresh f WHERE v.bucket = f.bucket AND v.accepted_on = f.accepted_on AND v.id = f.id;
"""


@contextlib.contextmanager
def forget_since(postgres: Postgres, database: str) -> Iterator[None]:
    """What is taken in meanwhile is removed again, so that every round meets a database of the same size."""
    since = postgres.run(database, "SELECT clock_timestamp()")[0][0]
    yield
    postgres.run(database, FORGET.format(since=since))
    postgres.vacuum(
        database, "pursuits, receipts, timeline, purchases, subscriptions, outbox, entitlement_reads, validations"
    )
