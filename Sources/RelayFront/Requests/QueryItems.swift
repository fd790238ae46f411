import Foundation
import RelayCore

/// The query of a request's target. A plus sign is a plus sign: email addresses have them.
struct QueryItems: Sendable {
    private static let maximumItems = 64
    private let items: [(name: Substring, value: Substring)]

    init(_ query: String?) {
        items = (query ?? "").parts(at: "&", maxSplits: Self.maximumItems).filter { !$0.isEmpty }.map { item in
            guard let (name, value) = item.halves(at: "=") else { return (item, "") }
            return (name, value)
        }
    }

    /// The first of that name; nil where there is none or it is empty. What is not percent-encoded UTF-8 is taken as it is.
    subscript(name: String) -> String? {
        guard let value = items.first(where: { $0.name.isSame(name) })?.value, !value.isEmpty else { return nil }
        return value.removingPercentEncoding ?? String(value)
    }

    /// Names of the items that are not empty.
    var names: [String] { items.filter { !$0.value.isEmpty }.map { String($0.name) } }

    /// Whether it stands there, be it empty.
    func holds(_ name: String) -> Bool { items.contains { $0.name.isSame(name) } }

    /// All of that name, in their order, so many at most.
    func all(_ name: String, most: Int) -> [String] {
        items.lazy.filter { $0.name.isSame(name) && !$0.value.isEmpty }.prefix(most)
            .map { $0.value.removingPercentEncoding ?? String($0.value) }
    }
}
