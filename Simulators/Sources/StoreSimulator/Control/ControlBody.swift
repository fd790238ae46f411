import Foundation

/// The body of a control call: an object of which every field is known, since another one would be a slip of the pen.
enum ControlBody {
    /// - Parameter fields: the names that there are.
    static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from call: StoreCall, fields: [String]
    ) throws(ControlFault) -> Value {
        guard let body = call.body else { throw ControlFault(status: 413, message: "the body is too large") }
        let data = body.isEmpty ? Data("{}".utf8) : body
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = Moment.date(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
            }
            return date
        }
        guard let names = try? decoder.decode([String: Anything].self, from: data).keys else {
            throw .invalid("the body is no JSON object")
        }
        if let unknown = names.sorted().first(where: { !fields.contains($0) }) {
            throw .invalid("unknown field \"\(unknown.prefix(60))\"; known: \(fields.joined(separator: ", "))")
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw .invalid("\(name(of: error)) is not what it has to be")
        }
    }

    private static func name(of error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _): key.stringValue
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.last?.stringValue ?? "the body"
        default: "the body"
        }
    }

    /// Of which only the name matters.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
