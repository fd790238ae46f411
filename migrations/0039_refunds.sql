-- Refunds that notifications of Google, Amazon and Roku report. The stores call such a purchase expired, and only their notifications say that it
-- was paid back. They wait here, as JSON, for the answer that shows whether the purchase is over; then the ledger keeps them.
--
-- Safe for the version before: it neither writes nor reads the column, and its answers end the purchase as expired.

ALTER TABLE store_questions ADD COLUMN refunds text[] NOT NULL DEFAULT '{}';
