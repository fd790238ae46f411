public import RelayCore

/// A type that operators see in the console, the ops API and commands. Defines each field once: name in JSON, label and
/// value.
public protocol Viewed: Sendable {
    static var fields: [Field<Self>] { get }
}

extension Viewed {
    /// The fields of a table, in the order of the names.
    public static func columns(_ names: String...) -> [Field<Self>] {
        let columns = names.compactMap { name in fields.first { $0.name == name } }
        assert(columns.count == names.count, "\(Self.self) has not all of \(names)")
        return columns
    }
}

public struct Field<Item: Sendable>: Sendable {
    /// Name in JSON.
    public let name: String
    /// Label of a table column or of a single fact.
    public let label: String
    public let value: @Sendable (Item) -> FieldValue
    private var words: (@Sendable (Item) -> String?)?

    /// - Parameters:
    ///   - label: empty if people see the field only within another one.
    ///   - value: nil becomes null.
    public init(
        _ name: String, _ label: String = "",
        _ value: @escaping @Sendable (Item) -> (any FieldConvertible)?
    ) {
        self.name = name
        self.label = label
        self.value = { value($0)?.fieldValue ?? .null }
    }

    /// The same field with a text of its own for people.
    func worded(_ words: @escaping @Sendable (Item) -> String?) -> Self {
        var field = self
        field.words = words
        return field
    }

    /// Text for people; nil if the field has no value.
    ///
    /// - Parameter time: formats timestamps.
    public func text(_ item: Item, time: (Timestamp) -> String = { $0.rfc3339 }) -> String? {
        if let words { return words(item) }
        return value(item).text(time: time)
    }
}

public enum FieldValue: Sendable {
    case null
    /// The field is left out, with its name.
    case absent
    case text(String)
    case number(Int)
    case flag(Bool)
    case time(Timestamp)
    /// A value that is already JSON.
    case json(String)
    case object([(name: String, value: FieldValue)])
    case list([FieldValue])

    func text(time: (Timestamp) -> String) -> String? {
        switch self {
        case .null, .absent, .object: nil
        case .text(let text), .json(let text): text
        case .number(let number): String(number)
        case .flag(let flag): flag ? "yes" : "no"
        case .time(let moment): time(moment)
        case .list(let values): values.compactMap { $0.text(time: time) }.joined(separator: " ")
        }
    }
}

/// A type that can be the value of a field.
public protocol FieldConvertible {
    var fieldValue: FieldValue { get }
}

extension FieldValue: FieldConvertible {
    public var fieldValue: FieldValue { self }

    /// The fields of another item, as a nested object.
    public static func object<Item: Viewed>(_ item: Item) -> FieldValue {
        .object(Item.fields.map { ($0.name, $0.value(item)) })
    }

    public static func list(_ items: [some Viewed]) -> FieldValue { .list(items.map { object($0) }) }
}

extension FieldConvertible where Self: CustomStringConvertible {
    public var fieldValue: FieldValue { .text(description) }
}

extension String: FieldConvertible {}
extension Identifier: FieldConvertible {}
extension ValidationID: FieldConvertible {}
extension EndpointID: FieldConvertible {}

extension Int: FieldConvertible {
    public var fieldValue: FieldValue { .number(self) }
}

extension Bool: FieldConvertible {
    public var fieldValue: FieldValue { .flag(self) }
}

extension Timestamp: FieldConvertible {
    public var fieldValue: FieldValue { .time(self) }
}

extension Duration: FieldConvertible {
    /// The duration in whole seconds.
    public var fieldValue: FieldValue { .number(Int(max(self, .zero).components.seconds)) }
}
