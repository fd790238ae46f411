-- Products of Roku Pay (`roku:PRODUCT`) in the catalogue.
--
-- Safe for the version before: it adds none of these, and passes over those that are there.

ALTER TABLE offer_products DROP CONSTRAINT offer_products_product_id_check;
ALTER TABLE offer_products ADD CONSTRAINT offer_products_product_id_check CHECK (product_id ~ '^(apple|google|amazon|roku):.');
