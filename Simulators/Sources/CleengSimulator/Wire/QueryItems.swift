import Foundation

/// The query of a URL, decoded as forms are: `+` is a space.
struct QueryItems: Sendable, Equatable {
    private(set) var items: [NamedValue] = []

    init(_ query: String?) {
        for pair in (query ?? "").split(separator: "&").prefix(50) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append(
                NamedValue(name: Self.decode(parts[0]), value: parts.count > 1 ? Self.decode(parts[1]) : ""))
        }
    }

    /// For the log.
    var bounded: [NamedValue] {
        items.map { NamedValue(name: Redaction.bounded($0.name), value: Redaction.bounded($0.value)) }
    }

    /// The first value of a name.
    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// An email of a control call: no address holds a space, so a bare plus sign is forgiven.
    func email(_ name: String) -> CustomerEmail? {
        self[name].flatMap { CustomerEmail($0.split(separator: " ").joined(separator: "+")) }
    }

    private static func decode(_ text: Substring) -> String {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return spaced.removingPercentEncoding ?? spaced
    }
}
