import TestSupport

/// Value of a field in an object that the App Store signs.
enum AppleField: Sendable, Hashable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([AppleField])
    case object([String: AppleField])

    /// A value of another type, possibly with the same meaning: `"1"` instead of 1.
    func changed(using generator: inout SeededGenerator) -> AppleField {
        var others: [AppleField] = [.list([self]), .object(["value": self])]
        switch self {
        case .text(let text): others += [.number(Int64(text) ?? 7), .flag(true)]
        case .number(let number): others += [.text("\(number)"), .text("soon"), .flag(true)]
        case .flag(let flag): others += [.text("\(flag)"), .number(flag ? 1 : 0), .text("soon")]
        case .list, .object: others = [.text("gone"), .number(7), .flag(true)]
        }
        return others.randomElement(using: &generator) ?? self
    }
}

extension AppleField: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let list): try container.encode(list)
        case .object(let fields): try container.encode(fields)
        }
    }
}

extension AppleField: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
}
