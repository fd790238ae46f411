-- Ledgers and events of Cleeng get a fence of their own, as the other queues have.
--
-- Their strikes and their attempts served as fences, and both go back to 0: a worker that stood still could change a row that another one had
-- claimed since.
--
-- Safe for the version before: it does not know the columns. A row that it claims keeps its fence, so beside it a stale worker is stopped by the
-- strikes alone, as before.

ALTER TABLE ledgers ADD COLUMN fence int NOT NULL DEFAULT 0;
ALTER TABLE cleeng_events ADD COLUMN fence int NOT NULL DEFAULT 0;
