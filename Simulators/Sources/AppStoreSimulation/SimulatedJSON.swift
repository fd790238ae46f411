public import Foundation

/// JSON as the App Store writes it: moments are whole milliseconds since 1970, and what is nil is left out.
public enum SimulatedJSON {
    /// - Parameter inSnakeCase: as version 1 notifications name their fields.
    public static func encode(_ value: some Encodable, inSnakeCase: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        // The same bytes for the same content.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if inSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.millisecondsSince1970)
        }
        return try encoder.encode(value)
    }
}

extension Date {
    public var millisecondsSince1970: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}

/// Something that is signed by itself: its own fields, and when that was done.
struct SignedPart<Content: Encodable>: Encodable {
    var content: Content
    var signedDate: Date

    private enum Key: String, CodingKey { case signedDate }

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(signedDate, forKey: .signedDate)
    }
}
