-- What is set aside is a thing of its own, and one copy at a time tidies up.
--
-- Safe for the version before: its claims and writes leave the new columns as they are; a row that it parks has no
-- `parked_at`, and is shown with the end of its lease instead.

-- `strikes`: claims in a row after which nobody gave the row back: the worker died of it, or stopped in the middle.
-- `trouble`: the last error; once the row is parked, the reason.
ALTER TABLE pursuits
    ADD COLUMN strikes   smallint NOT NULL DEFAULT 0,
    ADD COLUMN trouble   text,
    ADD COLUMN parked_at timestamptz;
CREATE INDEX pursuits_parked ON pursuits (accepted_at, id) WHERE phase = 2;

UPDATE pursuits p
SET (parked_at, trouble) = (
    SELECT t.at, t.detail
    FROM timeline t
    WHERE t.bucket = p.bucket AND t.accepted_on = p.accepted_on AND t.id = p.id AND t.event = 17
    ORDER BY t.fence DESC
    LIMIT 1)
WHERE p.phase = 2;

-- What one copy does for all: who holds it, until when, and how far it has come. A holder names its fence in every
-- transaction; the row's lock also keeps an operator's retry and the removal of old rows apart.
CREATE TABLE duties (
    name        text        NOT NULL PRIMARY KEY,
    holder      text        NOT NULL,
    fence       bigint      NOT NULL,
    expires_at  timestamptz NOT NULL,
    progress    text
);
INSERT INTO duties (name, holder, fence, expires_at) VALUES ('retention', '', 0, 'epoch');
