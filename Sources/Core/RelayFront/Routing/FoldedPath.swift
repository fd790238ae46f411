import HTTPTypes
import HummingbirdCore

/// Paths that match without regard to case, since clients spell them differently: `/API/v1/Orders/`, `/oauth/token`.
/// They are folded once, before the router and every other check of the path.
enum FoldedPath {
    private static let roots: [StaticString] = ["/api/v1", "/oauth/token"]

    /// The request with a folded path; unchanged unless its path is one of those.
    static func fold(_ request: Request) -> Request {
        guard let target = request.head.path, let folded = fold(target) else { return request }
        var head = request.head
        head.path = folded
        return Request(head: head, body: request.body)
    }

    /// The folded target, with an unchanged query. Nil if nothing changes.
    static func fold(_ target: String) -> String? {
        // One byte decides for all other paths: `/apple`, `/entitlements`, `/v2`, ….
        guard roots.contains(where: { starts(target, with: $0) }) else { return nil }
        // Split by bytes: the query begins at the first question mark, whatever character follows.
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return Substring(path).lowercased() + target[path.endIndex...]
    }

    private static func starts(_ target: String, with root: StaticString) -> Bool {
        var bytes = target.utf8.makeIterator()
        return root.withUTF8Buffer { root in
            for wanted in root {
                guard let byte = bytes.next() else { return false }
                let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
                guard lower == wanted else { return false }
            }
            return [nil, UInt8(ascii: "/"), UInt8(ascii: "?")].contains(bytes.next())
        }
    }
}
