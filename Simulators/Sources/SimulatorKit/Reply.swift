import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// An HTTP response, ready to be written.
package struct Reply: Sendable, Equatable {
    package var status: Int
    /// nil for none.
    package var body: Data?
    package var contentType = "application/json"
    package private(set) var headers: [NamedValue] = []

    package init(status: Int, body: Data? = nil) {
        self.status = status
        self.body = body
    }

    package init(status: Int = 200, json: some Encodable, dates: JSONBody.Dates = .milliseconds) {
        self.init(status: status, body: JSONBody.encode(json, dates: dates))
    }

    /// A success with a broken page as its body, as a proxy might send it.
    static var garbage: Reply {
        var reply = Reply(status: 200, body: Data("<html><body>It works, but this is no JSON".utf8))
        reply.contentType = "text/html"
        return reply
    }

    package static func notAllowed(_ methods: String...) -> Reply {
        Reply(status: 405).with(header: "Allow", methods.joined(separator: ", "))
    }

    /// - Parameter value: nil adds no header.
    package func with(header name: String, _ value: String?) -> Reply {
        guard let value else { return self }
        var reply = self
        reply.headers.append(NamedValue(name: name, value: value))
        return reply
    }
}

extension Response {
    init(_ reply: Reply) {
        var headers: HTTPFields = [:]
        if reply.body != nil { headers[.contentType] = reply.contentType }
        for header in reply.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers[name] = header.value
        }
        self.init(
            status: .init(code: reply.status), headers: headers,
            body: reply.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? .init())
    }
}

/// JSON of responses and control calls.
package enum JSONBody {
    /// The form of dates.
    package enum Dates: Sendable {
        /// Whole milliseconds since 1970, to the end of the year 9999.
        case milliseconds
        /// `2026-11-20T10:00:00.000Z`; the fraction is optional when reading.
        case text

        private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

        fileprivate func write(_ date: Date, to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .milliseconds: try container.encode(date.wholeMilliseconds)
            // The style truncates, but the other form rounds.
            case .text: try container.encode((date + 0.000_5).formatted(Self.style))
            }
        }

        fileprivate func read(from decoder: any Decoder) throws -> Date {
            let container = try decoder.singleValueContainer()
            switch self {
            case .milliseconds:
                let number = try container.decode(Int64.self)
                if (0...253_402_300_799_999).contains(number) {
                    return Date(timeIntervalSince1970: Double(number) / 1_000)
                }
            case .text:
                let text = try container.decode(String.self)
                let date = (try? Self.style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
                if let date { return date }
            }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
        }
    }

    /// Keys are in alphabetical order, so equal content gives equal bytes.
    package static func encode(_ value: some Encodable, dates: Dates = .milliseconds) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { try dates.write($0, to: $1) }
        // Encoding fails only for infinite numbers and NaN, which no response holds.
        return (try? encoder.encode(value)) ?? Data("null".utf8)
    }

    /// - Parameter fields: all known names; other names are rejected as typing errors. nil allows all names.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from data: Data, fields: [String]? = nil, dates: Dates = .milliseconds
    ) throws(ControlFault) -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { try dates.read(from: $0) }
        do {
            if let fields {
                let names = try decoder.decode([String: Anything].self, from: data).keys
                try ControlFault.check(names, known: fields)
            }
            return try decoder.decode(type, from: data)
        } catch {
            throw fault(error)
        }
    }

    private static func fault(_ error: any Error) -> ControlFault {
        if let fault = error as? ControlFault { return fault }
        switch error as? DecodingError {
        case .keyNotFound(let key, _): return .invalid("\(key.stringValue) is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            guard let field = context.codingPath.last?.stringValue else { return .invalid("this is no JSON object") }
            return .invalid("\(field.prefix(60)) is not what it has to be")
        default: return .invalid("this is no JSON object")
        }
    }

    /// A value that is ignored.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}

extension Date {
    /// Milliseconds since 1970, rounded.
    package var wholeMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}

/// A control call that failed. The message is for its sender.
package struct ControlFault: Error, Equatable, CustomStringConvertible {
    package let status: Int
    package let message: String
    /// The allowed methods; empty if the method is not the fault.
    package private(set) var allowed: [String] = []

    package init(status: Int, message: String) {
        self.status = status
        self.message = message
    }

    package static func invalid(_ message: String) -> ControlFault { ControlFault(status: 400, message: message) }
    package static func notFound(_ message: String) -> ControlFault { ControlFault(status: 404, message: message) }
    package static let noSuchAddress = notFound("nothing has this address")
    package static func conflict(_ message: String) -> ControlFault { ControlFault(status: 409, message: message) }
    package static let tooLarge = ControlFault(status: 413, message: "the body is too large")

    package static func method(allowed: [String]) -> ControlFault {
        var fault = ControlFault(status: 405, message: "use \(allowed.joined(separator: ", "))")
        fault.allowed = allowed
        return fault
    }

    /// - Throws: for an unknown field, which is probably a typing error.
    package static func check(_ fields: some Sequence<String>, known: [String]) throws(ControlFault) {
        guard let unknown = fields.sorted().first(where: { !known.contains($0) }) else { return }
        throw .invalid("unknown field \"\(unknown.prefix(60))\"; known: \(known.joined(separator: ", "))")
    }

    package var description: String { message }
    package var reply: Reply { Reply(status: status, json: ["message": message]) }
}
