public import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// Client of Apple's OCSP responder, which reports whether one of Apple's certificates was revoked (RFC 6960, appendix
/// A.1). Its answers are signed, so calls use plain HTTP, as the certificates specify.
public struct OCSPClient: Sendable {
    /// The responder returned no usable answer. The description may be logged.
    public struct Unanswered: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String
    }

    private let url: String
    private let timeout: Duration
    private let httpClient: HTTPClient

    private static let maxResponseBytes = 1 << 20

    /// - Parameters:
    ///   - url: without a trailing slash.
    ///   - timeout: below the ten seconds after which swift-certificates cancels, so that a slow answer is reported as
    ///     slow.
    public init(url: String, timeout: Duration = .seconds(8), httpClient: HTTPClient) {
        self.url = url
        self.timeout = timeout
        self.httpClient = httpClient
    }

    /// - Parameters:
    ///   - request: in DER.
    ///   - path: names the issuer.
    /// - Returns: the DER-encoded answer, not verified.
    public func ask(_ request: [UInt8], path: String) async throws(Unanswered) -> [UInt8] {
        let request = OutboundRequest(
            url: url + path, method: .POST,
            headers: ["Content-Type": "application/ocsp-request", "Accept": "application/ocsp-response"],
            body: ByteBuffer(bytes: request))
        let reply: HTTPReply
        do {
            reply = try await HTTPExchange(httpClient, by: .now + timeout, atMost: Self.maxResponseBytes)
                .send(request, route: "/ocsp").whole()
        } catch {
            throw Unanswered(description: error.rawValue)
        }
        guard reply.status == 200, let body = reply.wholeBody else {
            throw Unanswered(description: "HTTP \(reply.status)")
        }
        return Array(body.readableBytesView)
    }
}
