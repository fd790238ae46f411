import Formats

/// The query of a request's target. A plus sign stays a plus sign, since email addresses contain it.
package struct QueryItems: Sendable {
    private static let maximumItems = 64
    private let items: [(name: Substring, value: Substring)]

    package init(_ query: String?) {
        items = (query ?? "").parts(at: "&", maxSplits: Self.maximumItems).filter { !$0.isEmpty }.map { item in
            guard let (name, value) = item.halves(at: "=") else { return (item, "") }
            return (name, value)
        }
    }

    /// The first value of that name; nil if there is none or it is empty. Invalid percent-encoding is kept unchanged.
    package subscript(name: String) -> String? {
        guard let value = items.first(where: { $0.name.isSame(name) })?.value, !value.isEmpty else { return nil }
        return value.percentDecoded
    }

    /// Names of the items that are not empty.
    package var names: [String] { items.filter { !$0.value.isEmpty }.map { String($0.name) } }

    /// Whether the name occurs, even with an empty value.
    package func holds(_ name: String) -> Bool { items.contains { $0.name.isSame(name) } }

    /// All values of that name in their order, up to a maximum.
    package func all(_ name: String, most: Int) -> [String] {
        items.lazy.filter { $0.name.isSame(name) && !$0.value.isEmpty }.prefix(most)
            .map { $0.value.percentDecoded }
    }
}
