import Foundation

/// Writes values in the form that the server's `…recv` functions read: big-endian, without padding.
enum BinaryFormat {
    static func integer<T: FixedWidthInteger>(_ value: T, _ bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    static func bool(_ value: Bool, _ bytes: inout [UInt8]) {
        bytes.append(value ? 1 : 0)
    }

    static func text(_ value: String, _ bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        guard bytes[start...].contains(0) else { return }
        // UTF-8 of U+FFFD.
        let whole = bytes[start...].flatMap { $0 == 0 ? [0xEF, 0xBF, 0xBD] : [$0] }
        bytes.replaceSubrange(start..., with: whole)
    }

    static func text(_ value: String) -> [UInt8] {
        var bytes: [UInt8] = []
        text(value, &bytes)
        return bytes
    }

    static func bytea(_ value: [UInt8], _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: value)
    }

    static func uuid(_ value: UUID, _ bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    }

    static func timestamp(_ value: PostgresTimestamp, _ bytes: inout [UInt8]) {
        integer(value.microsecondsSince2000, &bytes)
    }

    /// An array of one dimension, with indices from 1. An array without elements has no dimension (`array_recv`).
    static func array<T>(
        of type: PostgresType, _ elements: [T?], _ encode: (T, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.count * 12)
        integer(Int32(elements.isEmpty ? 0 : 1), &bytes)
        integer(Int32(elements.contains { $0 == nil } ? 1 : 0), &bytes)
        integer(type.rawValue, &bytes)
        guard !elements.isEmpty else { return bytes }
        integer(Int32(clamping: elements.count), &bytes)
        integer(Int32(1), &bytes)
        for element in elements {
            let lengthAt = bytes.count
            integer(Int32(-1), &bytes)
            guard let element else { continue }
            encode(element, &bytes)
            let length = Int32(clamping: bytes.count - lengthAt - 4)
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(lengthAt..<lengthAt + 4, with: $0) }
        }
        return bytes
    }
}
