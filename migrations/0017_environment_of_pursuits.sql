-- Of which environment a pursuit's purchase is, so that one whose receipt nobody has proved overtakes no other.
--
-- Safe for the version before: it leaves the column empty, and what is empty counts as of the same environment.

ALTER TABLE pursuits ADD COLUMN environment text;
