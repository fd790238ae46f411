import NIOCore
import NIOHTTP1

/// What the relay answered, and when its last byte was here.
struct Answer: Sendable {
    var status: UInt
    var body: String
    /// Microseconds since 1970.
    var at: Int64

    /// The text of a field of the flat JSON object that the relay answers with. Its values never hold an escaped quote
    /// where a benchmark's own purchases are asked for.
    func field(_ name: String) -> Substring? {
        let opening = "\"\(name)\":\""
        guard let start = body.utf8.firstRange(of: opening.utf8)?.upperBound else { return nil }
        let rest = body[start...]
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
