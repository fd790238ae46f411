import Foundation

/// The query of a request's target. A plus sign is a plus sign: email addresses have them.
struct QueryItems: Sendable {
    private static let maximumItems = 64
    private let items: [(name: Substring, value: Substring)]

    init(_ query: String?) {
        items = (query ?? "").split(separator: "&", maxSplits: Self.maximumItems).map { item in
            guard let equals = item.firstIndex(of: "=") else { return (item, "") }
            return (item[..<equals], item[item.index(after: equals)...])
        }
    }

    /// The first of that name; nil where there is none or it is empty. What is not percent-encoded UTF-8 is taken as it is.
    subscript(name: String) -> String? {
        guard let value = items.first(where: { $0.name == name })?.value, !value.isEmpty else { return nil }
        return value.removingPercentEncoding ?? String(value)
    }

    /// All of that name, in their order, so many at most.
    func all(_ name: String, most: Int) -> [String] {
        items.lazy.filter { $0.name == name && !$0.value.isEmpty }.prefix(most)
            .map { $0.value.removingPercentEncoding ?? String($0.value) }
    }
}
