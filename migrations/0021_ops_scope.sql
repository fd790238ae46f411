-- Which publisher's rows an ops key may see: its own one's, unless it was made for all of them.
--
-- Safe for the version before: it leaves both columns at their defaults, and goes on holding no ops key to its publisher.

ALTER TABLE api_keys ADD COLUMN all_publishers boolean NOT NULL DEFAULT false;

-- Until now every ops key saw everything, whichever publisher it named. Where there is one publisher at most, nothing changes: they
-- are keys of all publishers from now on, and `keys list` says so. Where there are several, each is held to the one it names.
UPDATE api_keys SET all_publishers = true
WHERE role IN (3, 4) AND (SELECT count(*) FROM publishers) <= 1;

-- Whose ops keys see a line; null: those of all publishers alone.
ALTER TABLE audit_log ADD COLUMN publisher text;
