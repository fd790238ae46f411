-- One change of one customer, as the relay marks it in the transaction in which it happens; customers in turn.
UPDATE customers c
SET changed_at = clock_timestamp(), untold_since = coalesce(c.untold_since, clock_timestamp()), reason = 'RENEWED',
    version = c.version + 1
FROM bench_customers b
WHERE b.n = (SELECT nextval('bench_change')) AND c.bucket = b.bucket AND c.publisher = 'main' AND c.username = b.username;
