import Formats
import Foundation
import Postgres
import RelayCore

/// JSON of ledgers and periods in text columns. The database never queries its content.
enum LedgerJSON {
    /// Encodes with sorted keys, so that equal values give equal texts.
    static func text(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Throws: ``StoreError`` if this version cannot decode it.
    static func value<T: Decodable>(_ type: T.Type, _ text: String, column: String) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw StoreError.unreadable(column: column)
        }
    }
}

/// Columns of a stored ledger, and how they are decoded.
enum StoredLedger {
    /// Columns of `ledgers l`. Settlements write the last three. They write `state` only for a first grant
    /// (``FirstGrant``); otherwise the next update does.
    static let columns: SQL = "l.state, l.granted_at, l.granted_until, l.granted_offer"

    /// Condition that the ledger lists add-ons. Only then does the JSON have this key. A quote in a name would be
    /// escaped.
    static let hasItems: SQL = #"l.state LIKE '%"items":[%'"#

    /// - Parameters:
    ///   - row: with ``columns``.
    ///   - ownerNo: number of the present owner. Nil keeps Cleeng's statements about earlier owners too.
    /// - Throws: ``StoreError`` if this version cannot read it.
    static func read(_ row: PostgresRow, ownerNo: Int32?) throws -> SubscriptionLedger {
        var ledger = try state(row) ?? SubscriptionLedger()
        if let ownerNo { ledger.keepStatements(aboutOwner: ownerNo) }
        guard let granted = try row.timestampIfSet("granted_at") else { return ledger }
        let until = try row.timestampIfSet("granted_until")
        ledger.apply(
            LedgerStatement(grantOf: try row.get("granted_offer"), at: granted, until: until, ownerNo: ownerNo))
        return ledger
    }

    /// The stored statements, without the grants that settlements wrote since; nil if there are none.
    static func state(_ row: PostgresRow) throws -> SubscriptionLedger? {
        try row.get("state", as: String?.self).map {
            try LedgerJSON.value(SubscriptionLedger.self, $0, column: "ledgers.state")
        }
    }
}
