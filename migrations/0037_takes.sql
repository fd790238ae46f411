-- The subscriptions that Cleeng could give to a purchase's sender beside the purchase's own: all that the receipt contains, and the ids that the
-- store links to them. Written where the publisher lets no subscription move.
--
-- Safe for the version before: it judges such a purchase by its own subscription only, as it did.

ALTER TABLE validations ADD COLUMN takes text;
