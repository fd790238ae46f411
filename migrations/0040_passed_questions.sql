-- Questions to a store that another publisher's account could not answer. They are not passed on a second time.
--
-- Safe for the version before: it passes none on, and answers such a question as any other.

ALTER TABLE store_questions ADD COLUMN is_passed boolean NOT NULL DEFAULT false;
