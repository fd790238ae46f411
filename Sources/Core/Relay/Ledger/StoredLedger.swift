import Formats
import Foundation
package import Postgres
package import RelayCore

/// JSON of ledgers and periods in text columns. The database never queries its content.
package enum LedgerJSON {
    /// Encodes with sorted keys, so that equal values give equal texts.
    package static func text(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Throws: ``StoreError`` if this version cannot decode it.
    package static func value<T: Decodable>(_ type: T.Type, _ text: String, column: String) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw StoreError.unreadable(column: column)
        }
    }
}

/// Columns of a stored ledger, and how they are decoded.
package struct StoredLedger: Sendable {
    /// Columns of `ledgers l`. The last three are the newest grant. Where its settlement could not read `state`, or an
    /// earlier version settled, `state` lacks that grant.
    package static let columns: SQL = "l.state, l.granted_at, l.granted_until, l.granted_offer"

    /// Condition that the ledger lists add-ons. Only then does the JSON have this key. A quote in a name would be
    /// escaped.
    static let hasItems: SQL = #"l.state LIKE '%"items":[%'"#

    private let state: SubscriptionLedger
    private let grant: (offer: OfferID?, at: Timestamp, until: Timestamp?)?

    /// - Parameter row: with ``columns``.
    /// - Throws: ``StoreError`` if this version cannot read it.
    init(_ row: PostgresRow) throws {
        state = try Self.state(row) ?? SubscriptionLedger()
        let at = try row.timestampIfSet("granted_at")
        grant = try at.map { (try row.get("granted_offer"), $0, try row.timestampIfSet("granted_until")) }
    }

    /// - Parameter ownerNo: number of the present owner. Nil keeps Cleeng's statements about earlier owners too.
    func ledger(ownerNo: Int32?) -> SubscriptionLedger {
        var ledger = state
        if let ownerNo { ledger.keepStatements(aboutOwner: ownerNo) }
        if let (offer, at, until) = grant {
            ledger.apply(LedgerStatement(grantOf: offer, at: at, until: until, ownerNo: ownerNo))
        }
        return ledger
    }

    /// ``init(_:)`` and ``ledger(ownerNo:)``.
    package static func read(_ row: PostgresRow, ownerNo: Int32?) throws -> SubscriptionLedger {
        try StoredLedger(row).ledger(ownerNo: ownerNo)
    }

    /// The stored statements, without the grants that settlements wrote since; nil if there are none.
    package static func state(_ row: PostgresRow) throws -> SubscriptionLedger? {
        try row.get("state", as: String?.self).map {
            try LedgerJSON.value(SubscriptionLedger.self, $0, column: "ledgers.state")
        }
    }
}
