-- Granted access that runs is always due at some time: where Cleeng names no end, it is asked again after a week. This finds a ledger for which
-- that is not so. It takes the place of `ledgers_unwatched`, which left out what has no end. While it is built (about three seconds for each
-- million of subscriptions) grants wait, and purchases are taken in.
--
-- Safe for the version before: it only counts by the old index, and then reads the table.

CREATE INDEX ledgers_never_due ON ledgers (publisher)
    WHERE due_at IS NULL AND parked_at IS NULL AND status IN (1, 2) AND granted_at IS NOT NULL AND NOT has_moved;
DROP INDEX ledgers_unwatched;
