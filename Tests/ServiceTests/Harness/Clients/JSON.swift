import Foundation

/// A JSON value with simple access: a missing value is `.null`.
struct JSON: Sendable, Equatable, CustomStringConvertible {
    private enum Value: Sendable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON])
        case object([String: JSON])
    }

    private let value: Value

    init(data: Data) throws {
        self.init(try JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed]))
    }

    private init(_ any: Any) {
        switch any {
        case let object as [String: Any]: value = .object(object.mapValues(JSON.init))
        case let array as [Any]: value = .array(array.map(JSON.init))
        case let string as String: value = .string(string)
        case let number as NSNumber:
            value = isBoolean(number) ? .bool(number.boolValue) : .number(number.doubleValue)
        default: value = .null
        }
    }

    private init(_ value: Value) { self.value = value }

    static let null = JSON(.null)

    subscript(key: String) -> JSON {
        if case .object(let object) = value { object[key] ?? .null } else { .null }
    }

    subscript(index: Int) -> JSON {
        if case .array(let array) = value, array.indices.contains(index) { array[index] } else { .null }
    }

    var string: String? { if case .string(let string) = value { string } else { nil } }
    var bool: Bool? { if case .bool(let bool) = value { bool } else { nil } }
    var number: Double? { if case .number(let number) = value { number } else { nil } }
    var int: Int? { number.map { Int($0) } }
    var object: [String: JSON]? { if case .object(let object) = value { object } else { nil } }
    var array: [JSON]? { if case .array(let array) = value { array } else { nil } }
    var keys: Set<String> { if case .object(let object) = value { Set(object.keys) } else { [] } }
    var isNull: Bool { value == .null }

    var description: String {
        switch value {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): "\(number)"
        case .string(let string): "\"\(string)\""
        case .array(let array): "[\(array.map(\.description).joined(separator: ", "))]"
        case .object(let object):
            "{\(object.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", "))}"
        }
    }
}

/// Foundation on Linux stores booleans as numbers with the Objective-C type char.
private func isBoolean(_ number: NSNumber) -> Bool {
    String(cString: number.objCType) == "c"
}
