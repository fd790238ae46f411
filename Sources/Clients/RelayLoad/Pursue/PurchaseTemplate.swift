import ArgumentParser
import Foundation
import NIOCore

/// The body of a purchase with placeholders for its number. `{digits}` is the number. `{digits64}` is the base64 of its
/// digits, inside a receipt and on a boundary of three bytes.
struct PurchaseTemplate: Sendable {
    static let digits = 15

    private enum Part: Sendable {
        case text(String)
        case digits
        case digits64
    }

    private let parts: [Part]
    private let length: Int

    /// - Throws: ``ValidationError`` if a placeholder is missing.
    init(_ text: String) throws {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.range(of: "{digits"), let close = rest[open.upperBound...].firstIndex(of: "}") {
            parts.append(.text(String(rest[..<open.lowerBound])))
            parts.append(rest[open.upperBound..<close] == "64" ? .digits64 : .digits)
            rest = rest[rest.index(after: close)...]
        }
        guard !parts.isEmpty else { throw ValidationError("the template has no place for a number") }
        parts.append(.text(String(rest)))
        self.parts = parts
        self.length = text.utf8.count + 64
    }

    static func number(_ value: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    func body(_ number: String) -> ByteBuffer {
        let number64 = Data(number.utf8).base64EncodedString()
        var buffer = ByteBufferAllocator().buffer(capacity: length)
        for part in parts {
            switch part {
            case .text(let text): buffer.writeString(text)
            case .digits: buffer.writeString(number)
            case .digits64: buffer.writeString(number64)
            }
        }
        return buffer
    }
}
