-- Purchases that go to Cleeng by StoreKit 2: registered by their transaction, and followed by Cleeng's own synchronization.
--
-- Safe for the version before: it claims by phase, so what is on this road waits for copies that know it.

-- How a purchase goes to Cleeng: 0 its receipt by /apple/payment, 1 its transaction by StoreKit 2.
ALTER TABLE validations ADD COLUMN driver smallint NOT NULL DEFAULT 0;

-- Phases 3 and 4 are 0 and 1 of that road: to be sent, and taken by Cleeng. `synchronization` is Cleeng's name for what it
-- does about a purchase in phase 4; with `transfers` it is the transfer that was asked for, or is to be, after a registration
-- found the purchase with another customer.
ALTER TABLE pursuits
    ADD COLUMN synchronization text,
    ADD COLUMN transfers       boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT pursuits_phase_check,
    DROP CONSTRAINT pursuits_check,
    ADD CONSTRAINT pursuits_phase_check CHECK (phase BETWEEN 0 AND 4),
    ADD CONSTRAINT pursuits_sender_check CHECK (NOT sending OR phase IN (0, 3)),
    ADD CONSTRAINT pursuits_synchronization_check CHECK (phase <> 4 OR synchronization IS NOT NULL);
