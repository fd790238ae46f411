-- One sender for each subscription and environment: what Apple did not sign (environment `unknown`) holds up nothing that it did.
--
-- Safe for the version before: it names no index and infers none, and a claim that meets another sender fails by the same
-- name as before. It writes the environment of every pursuit; one that does not (before 0017) gets `unknown`.

-- First, so that the whole table is ours from here on: nobody waits for a row that this transaction has changed while it waits for a lock.
ALTER TABLE pursuits ALTER COLUMN environment SET DEFAULT 'unknown';
UPDATE pursuits p
SET environment = coalesce((
    SELECT v.environment FROM validations v
    WHERE v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id), 'unknown')
WHERE p.environment IS NULL;
ALTER TABLE pursuits ALTER COLUMN environment SET NOT NULL;
DROP INDEX pursuits_one_sender;
CREATE UNIQUE INDEX pursuits_one_sender ON pursuits (bucket, publisher, environment, subscription_key) WHERE sending;
