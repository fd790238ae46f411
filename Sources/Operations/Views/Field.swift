public import RelayCore

/// What operators see of something, by every door: each field once, with its name in JSON, its label for people, and its value.
public protocol Viewed: Sendable {
    static var fields: [Field<Self>] { get }
}

extension Viewed {
    /// The fields of a table, in this order.
    public static func columns(_ names: String...) -> [Field<Self>] {
        let columns = names.compactMap { name in fields.first { $0.name == name } }
        assert(columns.count == names.count, "\(Self.self) has not all of \(names)")
        return columns
    }
}

public struct Field<Item: Sendable>: Sendable {
    /// In JSON.
    public let name: String
    /// Over a column, or before a fact.
    public let label: String
    public let value: @Sendable (Item) -> FieldValue
    private var words: (@Sendable (Item) -> String?)?

    /// - Parameters:
    ///   - label: empty where people read it within another field.
    ///   - value: nil becomes null.
    public init(
        _ name: String, _ label: String = "",
        _ value: @escaping @Sendable (Item) -> (any FieldConvertible)?
    ) {
        self.name = name
        self.label = label
        self.value = { value($0)?.fieldValue ?? .null }
    }

    /// The same where people read something else than the value.
    func worded(_ words: @escaping @Sendable (Item) -> String?) -> Self {
        var field = self
        field.words = words
        return field
    }

    /// For people; nil where there is nothing.
    ///
    /// - Parameter time: how moments are written.
    public func text(_ item: Item, time: (Timestamp) -> String = { $0.rfc3339 }) -> String? {
        if let words { return words(item) }
        return value(item).text(time: time)
    }
}

public enum FieldValue: Sendable {
    case null
    /// The name is left out as well.
    case absent
    case text(String)
    case number(Int)
    case flag(Bool)
    case time(Timestamp)
    /// JSON already.
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

/// What can be the value of a field.
public protocol FieldConvertible {
    var fieldValue: FieldValue { get }
}

extension FieldValue: FieldConvertible {
    public var fieldValue: FieldValue { self }

    /// One thing within another.
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
    /// In whole seconds.
    public var fieldValue: FieldValue { .number(Int(max(self, .zero).components.seconds)) }
}
