import Postgres
import RelayCore

/// The columns in which a ledger is stored, and what they say together.
enum StoredLedger {
    /// Of `ledgers l`. Settlements write the last three and leave `state` to the next hearing.
    static let columns = "l.state, l.granted_at, l.granted_until, l.granted_offer"

    /// - Parameter first: where ``columns`` begin in the row.
    /// - Throws: ``StoreError`` where this version cannot read it.
    static func read(_ row: PostgresRow, from first: Int) throws -> SubscriptionLedger {
        var ledger = SubscriptionLedger()
        if let state = try row.get(first, as: String?.self) {
            ledger = try LedgerJSON.value(SubscriptionLedger.self, state, column: "ledgers.state")
        }
        guard let granted = try row.timestampIfSet(first + 1) else { return ledger }
        // At the time of its grant Cleeng said that it runs.
        let end = LedgerEnd(isOver: false, until: try row.timestampIfSet(first + 2), toldAt: granted)
        if let offer = try row.get(first + 3, as: OfferID?.self) {
            ledger.hear(LedgerWord(cleeng: [offer: end], granted: LedgerGrant(offer: offer, at: granted)))
        } else {
            ledger.hear(LedgerWord(end: end))
        }
        return ledger
    }
}
