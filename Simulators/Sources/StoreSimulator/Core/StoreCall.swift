import Foundation

/// A call, read whole.
struct StoreCall: Sendable {
    let method: String
    /// As it stands in the request.
    let path: String
    /// The decoded parts of the path.
    let segments: [String]
    let query: String?
    let authorization: String?
    let host: String?
    /// nil where it is larger than the limit.
    let body: Data?

    /// The value of a query parameter; the first of several.
    func value(_ name: String) -> String? {
        guard let query, let items = URLComponents(string: "?\(query)")?.queryItems else { return nil }
        return items.first { $0.name == name }?.value
    }
}
