-- By which data key a row's private columns are sealed: the row says so, so that nobody has to tell it from how they look.
--
-- `sealed_by`: 0, they stand as they were written; else the number of a row of `encryption_keys`. Null in what a version before this
-- one wrote, which told sealed values by a mark before them (docs/upgrade.md).
--
-- Safe for the version before: it leaves the column empty, and finds in the others what it would have written itself.

ALTER TABLE validations ADD COLUMN sealed_by integer;
ALTER TABLE receipts ADD COLUMN sealed_by integer;
ALTER TABLE pursuits ADD COLUMN sealed_by integer;
ALTER TABLE entitlement_reads ADD COLUMN sealed_by integer;
ALTER TABLE subscriptions ADD COLUMN sealed_by integer;
ALTER TABLE transfers ADD COLUMN sealed_by integer;
ALTER TABLE customers ADD COLUMN sealed_by integer;
ALTER TABLE notifications ADD COLUMN sealed_by integer;
ALTER TABLE cleeng_events ADD COLUMN sealed_by integer;
ALTER TABLE webhook_queue ADD COLUMN sealed_by integer;
ALTER TABLE webhook_deliveries ADD COLUMN sealed_by integer;
ALTER TABLE audit_log ADD COLUMN sealed_by integer;
ALTER TABLE billing_customers ADD COLUMN sealed_by integer;
