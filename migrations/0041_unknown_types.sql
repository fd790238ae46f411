-- Whether the version that stored an App Store notification knew its type. An unknown type counts as far as its transaction says, and a later
-- version that knows it can replay it.
--
-- Safe for the version before: it writes the default, which is what it showed so far.

ALTER TABLE notifications ADD COLUMN type_is_unknown boolean NOT NULL DEFAULT false;
