/// What a JSON value is.
enum JSONKind: Sendable, Equatable {
    case null, bool, number, string, array, object

    var article: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
