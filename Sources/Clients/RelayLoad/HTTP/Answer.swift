import NIOCore
import NIOHTTP1

/// The relay's answer, with the arrival time of its last byte.
struct Answer: Sendable {
    var status: UInt
    var body: String
    /// Microseconds since 1970.
    var at: Int64

    func field(_ name: String) -> Substring? { body.field(name) }
}

extension String {
    /// The first field with this name in JSON from the relay. A benchmark's own purchases have no escaped quotes in
    /// their values.
    func field(_ name: String) -> Substring? {
        let opening = "\"\(name)\":\""
        guard let start = utf8.firstRange(of: opening.utf8)?.upperBound else { return nil }
        let rest = self[start...]
        guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return rest[..<end]
    }
}

/// One request with the promise of its answer.
struct Exchange: Sendable {
    var head: HTTPRequestHead
    var body: ByteBuffer?
    var answer: EventLoopPromise<Answer>
}

/// The connection closed before the answer arrived.
struct ConnectionLost: Error {}
