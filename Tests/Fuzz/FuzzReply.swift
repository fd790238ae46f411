import NIOCore
import NIOHTTP1
import OutboundHTTP

/// An answer of an external server. The first byte selects the status, the first line after it contains the header
/// fields, and the rest is the body.
struct FuzzReply {
    private static let statuses = [200, 201, 204, 301, 400, 401, 403, 404, 408, 409, 410, 422, 425, 429, 500, 503]

    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]

    init(_ bytes: [UInt8]) {
        status = Self.statuses[Int(bytes.first ?? 0) % Self.statuses.count]
        let rest = bytes.dropFirst()
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        let values = line.split(separator: UInt8(ascii: "|"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        headers = HTTPHeaders(zip(["Retry-After", "Date"], values).map { ($0, $1) })
        body = Array(rest.dropFirst(line.count + 1))
    }

    var reply: HTTPReply {
        HTTPReply(status: status, headers: headers, body: .success(ByteBuffer(bytes: body)))
    }
}

extension FuzzTarget {
    static func texts(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    /// Each body as a success, and as a refusal that requests a pause.
    static func replies(_ bodies: [String]) -> [[UInt8]] {
        let pauses = ["120", "Mon, 21 Sep 2026 14:13:50 GMT|Mon, 21 Sep 2026 14:13:20 GMT", "1795168860000"]
        return bodies.enumerated().flatMap { index, body in
            [[0] + Array("\n\(body)".utf8), [UInt8(13 + index % 3)] + Array("\(pauses[index % 3])\n\(body)".utf8)]
        }
    }
}
