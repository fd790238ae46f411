import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import SimulatorKit

/// Sends waiting events one after another, so that they arrive in order. An event that is not accepted delays the
/// others until it is given up.
struct WebhookService: Service {
    let simulator: Simulator

    /// Pauses between the attempts for one event.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1), .seconds(4)]
    private static let timeout = TimeAmount.seconds(5)
    /// Polling interval. Grants have no timer: they take effect on access, and this poll is such an access.
    private static let glance = Duration.milliseconds(20)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let event = simulator.nextWebhook() {
                    await deliver(event)
                } else {
                    try? await Task.sleep(for: Self.glance)
                }
            }
        }
    }

    private func deliver(_ event: WebhookEvent) async {
        var attempts = 0
        var status: Int?
        // Read again each time: after a reset, or a change of address, the old address must not be called any more.
        while !Task.isCancelled, let target = simulator.target(of: event) {
            attempts += 1
            status = await post(event, to: target)
            if status.map({ (200..<300).contains($0) }) == true || attempts > Self.pauses.count { break }
            try? await Task.sleep(for: Self.pauses[attempts - 1])
        }
        simulator.delivered(event, attempts: attempts, status: status)
    }

    /// - Returns: nil without an answer.
    private func post(_ event: WebhookEvent, to target: WebhookTarget) async -> Int? {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: target.signatureHeader, value: target.signature(of: event.body))
        request.body = .bytes(ByteBuffer(bytes: event.body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: Self.timeout) else { return nil }
        // The body is read only so that the connection can be reused.
        _ = try? await response.body.collect(upTo: 1_024 * 1_024)
        return Int(response.status.code)
    }
}

/// Address and signature of Cleeng's events. Cleeng's public documentation names neither the header nor the encoding,
/// so both can be configured.
struct WebhookTarget: Sendable, Equatable {
    enum Encoding: String, Sendable, CaseIterable {
        case hex, base64
    }

    static let standardHeader = "X-Cleeng-Signature"

    let url: String
    /// Never shown.
    private let secret: String
    let signatureHeader: String
    let signatureEncoding: Encoding
    /// Whether start and end events also contain the customer's email.
    let withEmail: Bool

    init(
        url: String, secret: String, signatureHeader: String = standardHeader, signatureEncoding: Encoding = .hex,
        withEmail: Bool = false
    ) throws(ControlFault) {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme ?? ""),
            let host = parts.host, !host.isEmpty, url.utf8.count <= 2_000
        else { throw .invalid("the url of webhooks is that of an HTTP server, such as http://127.0.0.1:8080/webhooks") }
        // Cleeng's own lower bound.
        guard (16...1_024).contains(secret.utf8.count) else {
            throw .invalid("the secret of webhooks has at least 16 bytes")
        }
        guard (1...100).contains(signatureHeader.utf8.count),
            signatureHeader.allSatisfy({ $0 == "-" || ($0.isASCII && ($0.isLetter || $0.isNumber)) })
        else { throw .invalid("the signature header of webhooks is the name of a header field") }
        self.url = url
        self.secret = secret
        self.signatureHeader = signatureHeader
        self.signatureEncoding = signatureEncoding
        self.withEmail = withEmail
    }

    /// HMAC-SHA256 over the body, byte for byte.
    func signature(of body: [UInt8]) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: body, using: key)
        return switch signatureEncoding {
        case .hex: HexDigest.text(of: code)
        case .base64: Data(code).base64EncodedString()
        }
    }
}
