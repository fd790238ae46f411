-- Publishers that have an account of their own at Cleeng. What is due is taken up for each publisher by itself, so that what
-- piles up behind one account is not looked through for the others.
--
-- Safe for the version before: it finds what is due without these indexes, less quickly.

CREATE INDEX pursuits_due ON pursuits (publisher, phase, due_at);
DROP INDEX pursuits_due_by_phase;

DROP INDEX notification_relays_due;
CREATE INDEX notification_relays_due ON notification_relays (publisher, due_at);

-- Whose account an event of Cleeng's came from: null for the one that publishers share.
ALTER TABLE cleeng_events ADD COLUMN account text;
