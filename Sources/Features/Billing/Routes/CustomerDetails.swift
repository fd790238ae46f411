import Formats
import HTTPServer
import NIOCore
import Relay
import RelayCore

/// A publisher's details of a customer. The relay stores and returns them unchanged, and uses none of them.
struct CustomerDetails: Sendable {
    private static let texts = [
        "ExternalCustomerId", "FirstName", "LastName", "CompanyName", "EmailAddress", "PhoneNumber", "Locale",
        "Language",
        "VatId", "CustomerType", "CustomerSubType", "Tag", "Notes", "DebitorAccount", "DefaultBearerMedium",
    ]
    private static let objects = ["Address", "CustomFields"]
    private static let names = FieldNames(texts + objects, inAnyCase: true)
    private static let mostCharacters = 500
    private static let mostObjectBytes = 16 << 10
    /// Nesting of JSON objects.
    private static let deepest = 8

    /// A JSON object with its names in Pascal case, and without space around it.
    let json: String

    /// - Parameter path: prefix of the fields' names if it is part of another body: `Customer.`.
    /// - Throws: ``Problem`` 400 and 422.
    init(_ body: ByteBuffer, in path: String = "") throws {
        var reader = try FieldReader(body, Self.names, in: path)
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for name in Self.texts {
            guard let text = reader.text(name, characters: Self.mostCharacters) else { continue }
            if name == "EmailAddress", !text.isEmpty, CustomerEmail(text) == nil {
                reader.add(name, .invalid, "must be an email address")
            }
            writer.name(name)
            writer.value(text)
        }
        for name in Self.objects {
            guard let text = reader.object(name) else { continue }
            guard text.utf8.count <= Self.mostObjectBytes, JSONScanner.isJSON(text, levels: Self.deepest) else {
                reader.add(
                    name, .tooLong, "must have at most \(Self.mostObjectBytes) bytes, and \(Self.deepest) levels")
                continue
            }
            writer.name(name)
            writer.value(json: text.utf8)
        }
        writer.endObject()
        try reader.end()
        json = writer.text
    }
}
