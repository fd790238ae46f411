/// A header field or a query item.
struct NamedValue: Sendable, Equatable {
    let name: String
    let value: String
}
