-- A customer's number at Cleeng is only what an app says. Cleeng's events no longer find purchases by it, so nothing reads the index.
--
-- Safe for the version before: it finds them without the index, more slowly.

DROP INDEX validations_cleeng_customer;
