import Foundation
import Postgres
import RelayCore

extension SQL.StringInterpolation {
    /// A time as an interval.
    mutating func appendInterpolation(_ duration: Duration) {
        appendInterpolation("\(.int8(duration.microseconds)) * interval '1 microsecond'" as SQL)
    }

    /// Constants by their names, as the list after `IN`: `status IN \([ValidationStatus.granted, .revoked])`.
    mutating func appendInterpolation<Constant: RawRepresentable<Int16>>(_ constants: [Constant]) {
        appendInterpolation(unescaped: "(\(constants.map { "\($0.rawValue)" }.joined(separator: ", ")))")
    }
}

extension SQL {
    /// The condition that `row` has the id that `ids` names by `bucket`, `day` (a number since 1970) and `id`. With it a plan goes by
    /// the primary key of one weekly partition.
    static func sameID(_ row: SQL, _ ids: SQL) -> SQL {
        "\(row).bucket = \(ids).bucket AND \(row).accepted_on = DATE 'epoch' + \(ids).day AND \(row).id = \(ids).id"
    }

    /// The condition that two rows are of one subscription.
    static func sameSubscription(_ one: SQL, _ other: SQL) -> SQL {
        """
        \(one).bucket = \(other).bucket AND \(one).publisher = \(other).publisher
        AND \(one).environment = \(other).environment AND \(one).subscription_key = \(other).subscription_key
        """
    }
}

extension ValidationID {
    /// The condition that a row has this id.
    func isKey(of row: SQL) -> SQL {
        """
        \(row).bucket = \(.int2(Int16(bucket.number))) AND \(row).accepted_on = DATE 'epoch' + \(.int4(Int32(day)))
        AND \(row).id = \(.uuid(uuid))
        """
    }
}

extension SubscriptionName {
    /// The condition that a row is of this subscription.
    func isKey(of row: SQL) -> SQL {
        """
        \(row).bucket = \(.int2(Int16(bucket.number))) AND \(row).publisher = \(.text(publisher))
        AND \(row).environment = \(.text(environment)) AND \(row).subscription_key = \(.text(originalTransactionID))
        """
    }
}

extension SQLTable {
    /// The keys of ledgers and owners: `bucket`, `publisher`, `environment`, `subscription_key`.
    static func subscriptions(_ names: [SubscriptionName]) -> SQLTable {
        [
            "bucket": .int2Array(names.map { Int16($0.bucket.number) }),
            "publisher": .textArray(names.map(\.publisher)), "environment": .textArray(names.map(\.environment)),
            "subscription_key": .textArray(names.map(\.originalTransactionID)),
        ]
    }

    /// The keys of validations, and of whatever else has such ids: `bucket`, `day` (a number since 1970), `id`.
    static func ids(_ ids: [ValidationID]) -> SQLTable {
        [
            "bucket": .int2Array(ids.map { Int16($0.bucket.number) }), "day": .int4Array(ids.map { Int32($0.day) }),
            "id": .uuidArray(ids.map(\.uuid)),
        ]
    }
}

extension SubscriptionStanding {
    /// The condition that a ledger `l` gives access, as ``Status/grantsAccess`` says.
    static let runs: SQL = "l.status IN \([Status.active, .inGrace])"
}

extension Validation {
    /// The condition that access was granted by a validation `v`, whether it runs or was taken back.
    static let wasGranted: SQL = "v.status IN \([ValidationStatus.granted, .revoked])"
}
