import Foundation
import Postgres
import RelayCore

extension PostgresRow {
    func billingID(_ index: Int, _ column: String) throws -> BillingID {
        guard let id = BillingID(try get(index, as: String.self)) else { throw StoreError.unreadable(column: column) }
        return id
    }

    func billingIDIfSet(_ index: Int, _ column: String) throws -> BillingID? {
        guard let text = try get(index, as: String?.self) else { return nil }
        guard let id = BillingID(text) else { throw StoreError.unreadable(column: column) }
        return id
    }

    func platform(_ index: Int) throws -> StorePlatform {
        guard let platform = StorePlatform(rawValue: try get(index, as: String.self)) else {
            throw StoreError.unreadable(column: "platform")
        }
        return platform
    }
}

extension BillingID {
    /// The two columns by which a row is reached: bucket, id.
    var key: [PostgresValue] { [.int2(Int16(bucket.number)), .text(description)] }
}

extension BillingPage {
    /// The condition for a page of a table's rows after ``from``, of the publisher `$1`: `$2` to `$5` are ``parameters(of:)``'s. An id that
    /// there is no row by, made up or removed meanwhile, stands for the second that it was made in.
    static func after(_ table: StaticString, _ row: StaticString) -> String {
        """
        (\(row).created_at, \(row).id) > (
            coalesce((SELECT f.created_at FROM \(table) f WHERE f.bucket = $3 AND f.id = $2 AND f.publisher = $1), $4), $2)
        ORDER BY \(row).created_at, \(row).id
        LIMIT $5
        """
    }

    func parameters(of publisher: PublisherID) -> [PostgresValue] {
        [
            .text(publisher), .text(from?.description ?? ""), .int2(from.map { Int16($0.bucket.number) }),
            .timestamptz((from?.madeAt ?? Timestamp(seconds: 0)).postgres), .int4(Int32(clamping: take)),
        ]
    }
}

extension RelayStore {
    /// By the database's clock where it is known by now, so that ids of all copies sort by time.
    func newBillingID() -> BillingID {
        var generator = SystemRandomNumberGenerator()
        let now = clock.now ?? Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        return BillingID(at: now, using: &generator)
    }
}
