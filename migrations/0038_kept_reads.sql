-- Until when a customer's next entitlement read is kept for the question that was refused and waits for it.
--
-- Safe for the version before: it takes such a turn as any other.

ALTER TABLE entitlement_reads ADD COLUMN kept_until timestamptz;
