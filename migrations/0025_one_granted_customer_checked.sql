-- Looks at what 0024 has not looked at, while everybody goes on writing; then the constraint is that of the whole table, and of every
-- partition to come.
--
-- Safe for the version before, as 0024.

DO $$
DECLARE
    leaf regclass;
BEGIN
    FOR leaf IN
        SELECT c.conrelid FROM pg_constraint c JOIN pg_inherits i ON i.inhrelid = c.conrelid
        WHERE c.conname = 'validations_owner_no' AND i.inhparent = 'validations'::regclass AND NOT c.convalidated
    LOOP
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT validations_owner_no', leaf);
    END LOOP;
END $$;
ALTER TABLE validations ADD CONSTRAINT validations_owner_no
    FOREIGN KEY (bucket, publisher, environment, subscription_key, owner_no)
    REFERENCES subscriptions (bucket, publisher, environment, subscription_key, owner_no);
