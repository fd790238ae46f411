import Foundation
import Postgres
import RelayCore

extension PostgresRow {
    /// A time, clamped to ``Timestamp/datable``.
    func timestamp(_ column: StaticString) throws -> Timestamp {
        let stored = Timestamp(microseconds: try get(column, as: PostgresTimestamp.self).microsecondsSince1970)
        return min(max(stored, Timestamp.datable.lowerBound), Timestamp.datable.upperBound)
    }

    /// A time; nil if it is NULL or outside ``Timestamp/datable``.
    func timestampIfSet(_ column: StaticString) throws -> Timestamp? {
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
    func subscriptionName() throws -> SubscriptionName {
        SubscriptionName(
            publisher: try get("publisher"), environment: try get("environment"),
            originalTransactionID: try get("subscription_key"))
    }

    /// A constant that is stored as its number.
    ///
    /// - Throws: ``StoreError/unknownNumber(column:number:)`` if the number is unknown.
    func constant<Constant: RawRepresentable<Int16>>(
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
    var postgres: PostgresTimestamp { PostgresTimestamp(microsecondsSince1970: microseconds) }
}

extension ValidationID {
    init(bucket: Bucket, day: UInt16, uuid: UUID) {
        let bytes = uuid.uuid
        func word(_ parts: [UInt8]) -> UInt64 { parts.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            bucket: bucket, day: day,
            high: word([bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]),
            low: word([bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]))
    }

    var uuid: UUID {
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
                byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
                byte(low, 6), byte(low, 7)
            ))
    }
}
