-- Every app of Google purchases is swept, whoever acknowledges them, and an app that was never swept to its end has an age too.
--
-- Apps without an acknowledged grant were missing. The ledgers are read once, before anything is locked: `store_sweeps` is locked for a moment
-- after that, and grants at Google wait for it. The column comes before the rows: a grant that waits for a row would hold up the column.
--
-- Safe for the version before: it does not know the column, and sweeps the new rows as any other.

-- `asked_since`: when a copy first had the turn of the app; null: none has yet, or none has an account to ask with.
DO $$
DECLARE
    publishers text[];
    apps       text[];
BEGIN
    SELECT array_agg(found.publisher), array_agg(found.bundle_id) INTO publishers, apps
    FROM (SELECT DISTINCT l.publisher, l.bundle_id
          FROM ledgers l
          WHERE l.subscription_key LIKE 'google:%' AND l.bundle_id IS NOT NULL) AS found;
    ALTER TABLE store_sweeps ADD COLUMN asked_since timestamptz;
    INSERT INTO store_sweeps (publisher, store, app)
    SELECT missed.publisher, 'google', missed.app
    FROM unnest(publishers, apps) AS missed(publisher, app)
    ON CONFLICT (publisher, store, app) DO NOTHING;
END $$;
