import NIOCore
import NIOHTTP1

/// What the relay answered, and when its last byte was here.
struct Answer: Sendable {
    var status: UInt
    var body: String
    /// Microseconds since 1970.
    var at: Int64

    func field(_ name: String) -> Substring? { body.field(name) }
}

extension String {
    /// The text of the first field of this name in a JSON object that the relay wrote. Its values never hold an escaped quote where
    /// a benchmark's own purchases are asked for.
    func field(_ name: String) -> Substring? {
        let opening = "\"\(name)\":\""
        guard let start = utf8.firstRange(of: opening.utf8)?.upperBound else { return nil }
        let rest = self[start...]
        guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return rest[..<end]
    }
}

/// One request and where its answer goes.
struct Exchange: Sendable {
    var head: HTTPRequestHead
    var body: ByteBuffer?
    var answer: EventLoopPromise<Answer>
}

/// The connection went before the answer came.
struct ConnectionLost: Error {}
