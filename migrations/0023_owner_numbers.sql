-- What 0024 refers to, and where running access is found at which nobody would look. While it is built (about three seconds for each million of subscriptions) grants wait, and purchases are taken in.
--
-- Safe for the version before: it names none of this.

ALTER TABLE subscriptions
    ADD CONSTRAINT subscriptions_owner_no UNIQUE (bucket, publisher, environment, subscription_key, owner_no);
CREATE INDEX ledgers_unwatched ON ledgers (publisher)
    WHERE due_at IS NULL AND parked_at IS NULL AND status IN (1, 2) AND expires_at IS NOT NULL AND NOT has_moved;
