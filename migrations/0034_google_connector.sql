-- Purchases that go to Cleeng by its Google Play connector: driver 5, and phases 5 and 6, which are 3 and 4 of another wire.
-- found_synchronization: Cleeng named a synchronization that existed, instead of beginning one.
--
-- Safe for the version before: it claims by phase, so what goes this way waits for copies that know it. It writes the new column nowhere.

ALTER TABLE pursuits
    ADD COLUMN found_synchronization boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT pursuits_phase_check,
    DROP CONSTRAINT pursuits_sender_check,
    DROP CONSTRAINT pursuits_synchronization_check,
    ADD CONSTRAINT pursuits_phase_check CHECK (phase BETWEEN 0 AND 6),
    ADD CONSTRAINT pursuits_sender_check CHECK (NOT sending OR phase IN (0, 3, 5)),
    ADD CONSTRAINT pursuits_synchronization_check CHECK (phase NOT IN (4, 6) OR synchronization IS NOT NULL);
