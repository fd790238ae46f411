-- The trace that a row belongs to: who goes on with it, in another process or an hour later, goes on with the trace.
--
-- `trace`: `traceparent`, and after a space `tracestate` where there is one (W3C Trace Context); null where nobody follows it.
--
-- Safe for the version before: it writes none, and what it goes on with is followed no further.

ALTER TABLE validations ADD COLUMN trace text;
ALTER TABLE customers ADD COLUMN trace text;
ALTER TABLE notifications ADD COLUMN trace text;
ALTER TABLE webhook_deliveries ADD COLUMN trace text;
