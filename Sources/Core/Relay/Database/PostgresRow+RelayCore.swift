import Foundation
package import Postgres
package import RelayCore

extension PostgresRow {
    /// A time, clamped to ``Timestamp/datable``.
    package func timestamp(_ column: StaticString) throws -> Timestamp {
        let stored = Timestamp(microseconds: try get(column, as: PostgresTimestamp.self).microsecondsSince1970)
        return min(max(stored, Timestamp.datable.lowerBound), Timestamp.datable.upperBound)
    }

    /// A time; nil if it is NULL or outside ``Timestamp/datable``.
    package func timestampIfSet(_ column: StaticString) throws -> Timestamp? {
        try get(column, as: PostgresTimestamp?.self).flatMap { Timestamp(datable: $0.microsecondsSince1970) }
    }

    /// - Throws: ``StoreError/notFinite(column:)`` if the time is NULL or outside ``Timestamp/datable``.
    func finiteTimestamp(_ column: StaticString) throws -> Timestamp {
        guard let moment = try timestampIfSet(column) else { throw StoreError.notFinite(column: "\(column)") }
        return moment
    }

    /// Reads three columns: the bucket, the day as a number since 1970, the uuid.
    func validationID(
        bucket: StaticString = "bucket", day: StaticString = "day", id: StaticString = "id"
    ) throws -> ValidationID {
        ValidationID(
            bucket: Bucket(number: UInt8(truncatingIfNeeded: try get(bucket, as: Int.self))),
            day: UInt16(truncatingIfNeeded: try get(day, as: Int.self)), uuid: try get(id, as: UUID.self))
    }

    /// Reads three columns: `publisher`, `environment`, `subscription_key`.
    package func subscriptionName() throws -> SubscriptionName {
        SubscriptionName(
            publisher: try get("publisher"), environment: try get("environment"),
            originalTransactionID: try get("subscription_key"))
    }

    /// A constant that is stored as its number.
    ///
    /// - Throws: ``StoreError/unknownNumber(column:number:)`` if the number is unknown.
    package func constant<Constant: RawRepresentable<Int16>>(
        _ column: StaticString, as type: Constant.Type = Constant.self
    ) throws -> Constant {
        let number = try get(column, as: Int16.self)
        guard let constant = Constant(rawValue: number) else {
            throw StoreError.unknownNumber(column: "\(column)", number: Int(number))
        }
        return constant
    }
}

extension Timestamp {
    package var postgres: PostgresTimestamp { PostgresTimestamp(microsecondsSince1970: microseconds) }
}

extension ValidationID {
    init(bucket: Bucket, day: UInt16, uuid: UUID) {
        let number = uuid.number
        self.init(
            bucket: bucket, day: day, high: UInt64(truncatingIfNeeded: number >> 64),
            low: UInt64(truncatingIfNeeded: number))
    }

    var uuid: UUID { UUID(number: UInt128(high) << 64 | UInt128(low)) }
}

extension UUID {
    init(number: UInt128) {
        self = withUnsafeBytes(of: number.bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Its 128 bits.
    var number: UInt128 { withUnsafeBytes(of: uuid) { $0.reduce(0) { $0 << 8 | UInt128($1) } } }
}
