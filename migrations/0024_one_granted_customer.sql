-- One subscription has one granted customer: what is granted refers to the number of the subscription's owner, and the number changes with the
-- owner.
--
-- Of each partition first, and without a look at the rows that are there: nobody waits for that. 0025 looks at them.
--
-- Safe for the version before: null refers to nothing.

-- In the order in which transactions lock them.
LOCK TABLE subscriptions, validations IN SHARE ROW EXCLUSIVE MODE;
DO $$
DECLARE
    leaf regclass;
BEGIN
    FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'validations'::regclass LOOP
        EXECUTE format(
            'ALTER TABLE %s ADD CONSTRAINT validations_owner_no
                 FOREIGN KEY (bucket, publisher, environment, subscription_key, owner_no)
                 REFERENCES subscriptions (bucket, publisher, environment, subscription_key, owner_no) NOT VALID', leaf);
    END LOOP;
END $$;
