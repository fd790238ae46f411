-- Whether Apple made what the app sent: judged on the way in.
--
-- Safe for the version before: it leaves the new columns at their defaults, which say "not checked".

-- `verification`: 0 not checked, 1 genuine, 2 not genuine; of the last, why, in a word of a fixed set and in a sentence.
ALTER TABLE validations
    ADD COLUMN verification        smallint NOT NULL DEFAULT 0 CHECK (verification BETWEEN 0 AND 2),
    ADD COLUMN verification_code   text,
    ADD COLUMN verification_detail text;
