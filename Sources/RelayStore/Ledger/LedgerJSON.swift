import Foundation
import RelayCore

/// How what a ledger is made of stands in a column: text, since nothing in it is ever asked for by the database.
enum LedgerJSON {
    /// Keys sorted, so that the same thing is the same text.
    static func text(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Throws: ``StoreError`` where this version cannot make sense of it.
    static func value<T: Decodable>(_ type: T.Type, _ text: String, column: String) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw StoreError.unreadable(column: column)
        }
    }
}
