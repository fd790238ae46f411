-- Purchases that take their subscription from no other customer, by their publisher's policy.
--
-- Safe for the version before: it does not know the column. What it accepts, and what is there already, has NULL and moves as it always did.

ALTER TABLE validations ADD COLUMN keeps_owner boolean;
