-- refusal: Cleeng's event says that the customer's only waiting purchase of the offer was refused. The next entitlement read decides.
--
-- Safe for the version before: it writes the new column nowhere, and reads on as if no event had come.

ALTER TABLE pursuits ADD COLUMN refusal text;
