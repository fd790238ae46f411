-- Access that somebody watches: every grant has a ledger that says until when, on whose statement, and when it is looked at next; and one
-- subscription has one granted customer.
--
-- Safe for the version before: it fills in none of the new columns. `owner_no` is null on what it grants, and null refers to nothing; the
-- upkeep of this version numbers those rows. Where it ends a validation the number stays behind; this version clears it before it moves the
-- owner on.

-- What Cleeng granted last on the subscription: until when, and which offer. `has_moved`: the subscription goes on under another id, and nobody
-- need look at this one.
ALTER TABLE ledgers
    ADD COLUMN granted_until timestamptz,
    ADD COLUMN granted_offer text,
    ADD COLUMN has_moved     boolean NOT NULL DEFAULT false;

-- Counts the owners of a subscription. A granted validation carries the number of the owner that it was granted to, so that the foreign key
-- of 0024 refuses a second granted customer.
ALTER TABLE subscriptions ADD COLUMN owner_no integer NOT NULL DEFAULT 1;
ALTER TABLE validations ADD COLUMN owner_no integer;
