import Postgres
import RelayCore

/// The columns in which a ledger is stored, and what they say together.
enum StoredLedger {
    /// Of `ledgers l`. Settlements write the last three and leave `state` to the next hearing.
    static let columns: SQL = "l.state, l.granted_at, l.granted_until, l.granted_offer"

    /// - Parameter row: with ``columns``.
    /// - Throws: ``StoreError`` where this version cannot read it.
    static func read(_ row: PostgresRow) throws -> SubscriptionLedger {
        var ledger = try state(row) ?? SubscriptionLedger()
        guard let granted = try row.timestampIfSet("granted_at") else { return ledger }
        // At the time of its grant Cleeng said that it runs.
        let end = LedgerEnd(isOver: false, until: try row.timestampIfSet("granted_until"), toldAt: granted)
        if let offer = try row.get("granted_offer", as: OfferID?.self) {
            ledger.hear(LedgerWord(cleeng: [offer: end], granted: LedgerGrant(offer: offer, at: granted)))
        } else {
            ledger.hear(LedgerWord(end: end))
        }
        return ledger
    }

    /// What was heard, without the grants that settlements wrote since; nil where nothing was.
    static func state(_ row: PostgresRow) throws -> SubscriptionLedger? {
        try row.get("state", as: String?.self).map {
            try LedgerJSON.value(SubscriptionLedger.self, $0, column: "ledgers.state")
        }
    }
}
