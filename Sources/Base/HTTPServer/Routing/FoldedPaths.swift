import HTTPTypes
import HummingbirdCore

/// Paths that match without regard to case, since clients spell them differently. They are folded once, before the
/// router and every other check of the path.
struct FoldedPaths: Sendable {
    /// The first segments of each, in lower case: `/api/v1`.
    private let roots: [StaticString]

    init(_ roots: [StaticString]) {
        self.roots = roots
    }

    /// The request with a folded path; unchanged unless its path is one of those.
    func fold(_ request: Request) -> Request {
        guard let target = request.head.path, let folded = fold(target) else { return request }
        var head = request.head
        head.path = folded
        return Request(head: head, body: request.body)
    }

    /// The folded target, with an unchanged query. Nil if nothing changes.
    func fold(_ target: String) -> String? {
        // A byte or two decide for most other paths.
        guard roots.contains(where: { Self.starts(target, with: $0) }) else { return nil }
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
