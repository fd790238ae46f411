import NIOCore
import NIOHTTP1

/// An answer whose head arrived. Its body may not have.
struct UpstreamReply: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Result<ByteBuffer, CleengTrouble>

    /// The body where all of it arrived.
    var wholeBody: ByteBuffer? { try? body.get() }
}
