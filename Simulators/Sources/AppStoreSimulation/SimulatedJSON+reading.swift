public import Foundation

/// JSON that cannot be taken. Says why, for the person who sent it.
public struct JSONFault: Error, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

extension SimulatedJSON {
    /// The first and the last moment that are read: 1970, and the end of the year 9999.
    private static let milliseconds: ClosedRange<Int64> = 0...253_402_300_799_999

    /// An object of which every field is known; another one would be a slip of the pen.
    ///
    /// - Parameter fields: the names that there are; nil where others do not matter.
    public static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from data: Data, fields: [String]? = nil
    ) throws(JSONFault) -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let number = try container.decode(Int64.self)
            guard milliseconds.contains(number) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "out of range")
            }
            return Date(timeIntervalSince1970: Double(number) / 1_000)
        }
        do {
            if let fields {
                let names = try decoder.decode([String: Anything].self, from: data).keys
                if let unknown = names.sorted().first(where: { !fields.contains($0) }) {
                    throw JSONFault(
                        "unknown field \"\(unknown.prefix(60))\"; known: \(fields.joined(separator: ", "))")
                }
            }
            return try decoder.decode(type, from: data)
        } catch {
            throw fault(error)
        }
    }

    private static func fault(_ error: any Error) -> JSONFault {
        if let fault = error as? JSONFault { return fault }
        switch error as? DecodingError {
        case .keyNotFound(let key, _): return JSONFault("\(key.stringValue) is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            guard let field = context.codingPath.last?.stringValue else { return JSONFault("this is no JSON object") }
            return JSONFault("\(field.prefix(60)) is not what it has to be")
        default: return JSONFault("this is no JSON object")
        }
    }

    /// Of which only the name matters.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
