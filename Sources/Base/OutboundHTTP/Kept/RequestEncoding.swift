import NIOCore
import NIOHTTP1

extension Origin {
    /// Head and body of a request in one buffer, so that one write sends both.
    ///
    /// - Returns: nil if the URL has another origin, or if a header could be read as two.
    func encode(_ request: OutboundRequest) -> ByteBuffer? {
        guard let target = target(in: request.url), target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(512 + target.utf8.count + (request.body?.readableBytes ?? 0))
        buffer.writeString(request.method.rawValue)
        buffer.writeStaticString(" ")
        buffer.writeSubstring(target)
        buffer.writeStaticString(" HTTP/1.1\r\nHost: ")
        buffer.writeString(authority)
        buffer.writeStaticString("\r\nUser-Agent: receipt-relay\r\n")
        for (name, value) in request.headers where !Self.setHere.contains(name.lowercased()) {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfToken), value.utf8.allSatisfy(Self.isOfValue) else {
                return nil
            }
            buffer.writeString(name)
            buffer.writeStaticString(": ")
            buffer.writeString(value)
            buffer.writeStaticString("\r\n")
        }
        if let size = request.body?.readableBytes ?? (request.method == .GET ? nil : 0) {
            buffer.writeStaticString("Content-Length: ")
            buffer.writeString(String(size))
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
        if let body = request.body { buffer.writeImmutableBuffer(body) }
        return buffer
    }

    /// Headers that the client sets itself. Values from the caller are ignored.
    private static let setHere: Set = [
        "host", "user-agent", "content-length", "transfer-encoding", "connection", "expect", "upgrade",
    ]

    /// Whether a byte may be part of a header name (RFC 9110, section 5.6.2).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Whether a byte may be part of a header value (RFC 9110, section 5.5): no control character except the tabulator.
    private static func isOfValue(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }
}

/// Writes a request's bytes below the response decoder, and passes an answer's bytes on while a request is under way.
///
/// The decoder accepts an answer only after it has seen a request head. It gets a constant one; the real head is in the
/// bytes that follow. An end part marks the end of the exchange.
final class RequestBytes: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    static let announcement = HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))

    private var isExpecting = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(.byteBuffer(let bytes)): return context.write(wrapOutboundOut(bytes), promise: promise)
        case .head: isExpecting = true
        case .end: isExpecting = false
        case .body: break
        }
        promise?.succeed()
    }

    /// Refuses bytes that no request asked for: they would become the beginning of the next call's answer.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isExpecting else { return context.fireErrorCaught(OutboundError.unreadable) }
        context.fireChannelRead(data)
    }
}
