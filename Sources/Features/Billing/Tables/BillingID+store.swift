import Crypto
import Postgres
import Relay
import RelayCore

extension BillingID {
    /// The id of a store's subscription, for one publisher. Rows and public ids contain it, so its derivation must
    /// never change.
    init(external name: SubscriptionName) {
        var hash = SHA256()
        for part in [
            "external subscription", name.publisher.text, name.platform.rawValue, name.environment.text,
            name.originalTransactionID.text,
        ] {
            hash.update(data: Array("\(part.utf8.count):".utf8))
            hash.update(data: Array(part.utf8))
        }
        self.init(digest: Array(hash.finalize()))
    }

    /// Values of the two key columns: bucket, id.
    var key: SQL { "\(.int2(Int16(bucket.number))), \(.billingID(self))" }
}

extension OrderStore {
    /// Creates an id from the database's clock, if already known, so that ids of all copies sort by time.
    func newBillingID() -> BillingID {
        var generator = SystemRandomNumberGenerator()
        return BillingID(at: memory.clock.nowOrHostTime, using: &generator)
    }
}

extension PostgresValue {
    static func billingID(_ id: BillingID?) -> PostgresValue { .text(id?.description) }
}

extension SQLTable {
    /// The keys of `external_subscriptions` and `contract_subscriptions`: `bucket`, `id`.
    static func externalSubscriptions(_ ids: [BillingID]) -> SQLTable {
        ["bucket": .int2Array(ids.map { Int16($0.bucket.number) }), "id": .textArray(ids.map(\.description))]
    }
}

extension PostgresRow {
    func billingID(_ column: StaticString) throws -> BillingID {
        guard let id = BillingID(try get(column, as: String.self)) else {
            throw StoreError.unreadable(column: "\(column)")
        }
        return id
    }

    func platform() throws -> StorePlatform {
        guard let platform = StorePlatform(rawValue: try get("platform", as: String.self)) else {
            throw StoreError.unreadable(column: "platform")
        }
        return platform
    }
}
