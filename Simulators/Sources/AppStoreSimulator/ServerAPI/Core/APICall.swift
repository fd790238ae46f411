import Foundation

/// A call, read whole.
struct APICall: Sendable {
    let method: String
    let path: String
    /// The decoded parts of the path.
    let segments: [String]
    /// As it stands in the URL.
    let query: String?
    let authorization: String?
    /// nil where it is larger than the limit.
    let body: Data?

    /// The values of a query parameter, in their order.
    func values(_ name: String) -> [String] {
        guard let query, let items = URLComponents(string: "?\(query)")?.queryItems else { return [] }
        return items.filter { $0.name == name }.map { $0.value ?? "" }
    }
}
