-- The rows of one purchase in one statement and one commit: what a service writes that takes requests one by one.
-- `body` is given on the command line; ids and keys are random, as the relay's are.
\set n random(1, 9000000000000000)
\set bucket random(0, 255)
WITH claimed AS (
    INSERT INTO purchases (bucket, key, validation_bucket, accepted_on, id, deadline, status)
    SELECT get_byte(k.key, 0), k.key, :bucket::int2, now()::date, gen_random_uuid(), now() + interval '1 minute', 0
    FROM (SELECT sha256(int8send(:n::int8)) AS key) k
    ON CONFLICT (bucket, key) DO NOTHING
    RETURNING id, key
), validation AS (
    INSERT INTO validations (
        bucket, accepted_on, id, accepted_at, deadline, status, receipt_readable, publisher, app, email, customer,
        application_username, offer_id, transaction_id, app_type, ip_address, subscription_key, environment, product_id,
        bundle_id, purchase_key)
    SELECT :bucket::int2, now()::date, id, now(), now() + interval '1 minute', 0, true, 'main', '', c.email, c.email,
           c.email, 'S123456789_US', c.digits, 'ios', '127.0.0.1', c.digits, 'ProductionSandbox',
           'com.example.app.weekly', 'com.example.app', key
    FROM claimed, (SELECT :n::int8::text AS digits, 'load-' || :n::int8::text || '@example.test' AS email) c
), receipt AS (
    INSERT INTO receipts (bucket, accepted_on, id, is_text, body)
    SELECT :bucket::int2, now()::date, id, false, convert_to(:body::text, 'UTF8') FROM claimed
), pursuit AS (
    INSERT INTO pursuits (bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, customer)
    SELECT :bucket::int2, id, now()::date, now(), now(), now() + interval '1 minute', 'main', :n::int8::text,
           'load-' || :n::int8::text || '@example.test'
    FROM claimed
)
SELECT id FROM claimed;
