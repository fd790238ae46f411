import Formats
import Foundation
package import Postgres
import RelayCore

extension SQL.StringInterpolation {
    /// Appends a duration as an interval.
    package mutating func appendInterpolation(_ duration: Duration) {
        appendInterpolation("\(.int8(duration.microseconds)) * interval '1 microsecond'" as SQL)
    }

    /// Appends the numbers of constants as the list after `IN`: `status IN \([ValidationStatus.granted, .revoked])`.
    mutating func appendInterpolation<Constant: RawRepresentable<Int16>>(_ constants: [Constant]) {
        appendInterpolation(unescaped: "(\(constants.map { "\($0.rawValue)" }.joined(separator: ", ")))")
    }
}

extension SQL {
    /// Condition that `row` has the id that `ids` has as `bucket`, `day` (a number since 1970) and `id`. With it, a
    /// plan uses the primary key of one weekly partition.
    static func sameID(_ row: SQL, _ ids: SQL) -> SQL {
        "\(row).bucket = \(ids).bucket AND \(row).accepted_on = DATE 'epoch' + \(ids).day AND \(row).id = \(ids).id"
    }

    /// Condition that two rows belong to the same subscription.
    static func sameSubscription(_ one: SQL, _ other: SQL) -> SQL {
        """
        \(one).bucket = \(other).bucket AND \(one).publisher = \(other).publisher
        AND \(one).environment = \(other).environment AND \(one).subscription_key = \(other).subscription_key
        """
    }
}

extension ValidationID {
    /// Condition that a row has this id.
    func isKey(of row: SQL) -> SQL {
        """
        \(row).bucket = \(.int2(Int16(bucket.number))) AND \(row).accepted_on = DATE 'epoch' + \(.int4(Int32(day)))
        AND \(row).id = \(.uuid(uuid))
        """
    }
}

extension SubscriptionName {
    /// Condition that a row belongs to this subscription.
    func isKey(of row: SQL) -> SQL {
        """
        \(row).bucket = \(.int2(Int16(bucket.number))) AND \(row).publisher = \(.text(publisher))
        AND \(row).environment = \(.text(environment)) AND \(row).subscription_key = \(.text(originalTransactionID))
        """
    }
}

extension SQLTable {
    /// Keys of ledgers and owners: `bucket`, `publisher`, `environment`, `subscription_key`.
    static func subscriptions(_ names: [SubscriptionName]) -> SQLTable {
        [
            "bucket": .int2Array(names.map { Int16($0.bucket.number) }),
            "publisher": .textArray(names.map(\.publisher)), "environment": .textArray(names.map(\.environment)),
            "subscription_key": .textArray(names.map(\.originalTransactionID)),
        ]
    }

    /// Keys of validations, and of other rows with such ids: `bucket`, `day` (a number since 1970), `id`.
    static func ids(_ ids: [ValidationID]) -> SQLTable {
        [
            "bucket": .int2Array(ids.map { Int16($0.bucket.number) }), "day": .int4Array(ids.map { Int32($0.day) }),
            "id": .uuidArray(ids.map(\.uuid)),
        ]
    }
}

extension SubscriptionState {
    /// Condition that a ledger `l` gives access; see ``Status/grantsAccess``.
    static let runs: SQL = "l.status IN \([Status.active, .inGrace])"
}

extension Validation {
    /// Condition that a validation `v` was granted, whether its access continues or was revoked.
    static let wasGranted: SQL = "v.status IN \([ValidationStatus.granted, .revoked])"
}

extension StorePlatform {
    /// Name of the store as SQL, for a column with a subscription's key: ``init(subscriptionKey:)``.
    static func name(_ key: SQL) -> SQL {
        let prefixes = asked.map(\.rawValue).joined(separator: "|")
        return """
            CASE WHEN \(key) ~ '^(\(SQL(unescaped: prefixes))):' THEN split_part(\(key), ':', 1)
                 ELSE '\(SQL(unescaped: apple.rawValue))' END
            """
    }
}
