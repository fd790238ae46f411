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

extension RelayStore {
    /// By the database's clock where it is known by now, so that ids of all copies sort by time.
    func newBillingID() -> BillingID {
        var generator = SystemRandomNumberGenerator()
        let now = clock.now ?? Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        return BillingID(at: now, using: &generator)
    }
}
