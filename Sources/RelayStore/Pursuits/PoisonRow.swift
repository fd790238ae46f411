import Foundation
import Postgres
import RelayCore

/// A pursuit that no worker can go on with, by the columns of its own row: its id may be what is wrong with it.
struct PoisonRow: Sendable {
    let bucket: Int16
    let id: UUID
    let fence: Int32
    /// Names what is wrong and none of what the row holds.
    let why: String

    /// - Throws: where even its key cannot be read, which the schema rules out.
    init(_ row: PostgresRow, _ error: any Error) throws {
        bucket = try row.get(0)
        id = try row.get(2)
        fence = try row.get(3)
        why = Self.describe(error)
    }

    init(_ claimed: ClaimedPursuit, why: String) {
        bucket = Int16(claimed.id.bucket.number)
        id = claimed.id.uuid
        fence = claimed.fence
        self.why = why
    }

    static func describe(_ error: any Error) -> String {
        (error as? PostgresError).map { "its row cannot be read (\($0.shortDescription)): \($0.serverMessage)" }
            ?? "\(error)"
    }
}
