import AmazonAppStore
import AppStoreServer
import AsyncHTTPClient
import Cleeng
import CryptoExtras
import Formats
import Foundation
import GooglePlay
import JWTKit
import Logging
import NIOCore
import OutboundHTTP
import ReceiverSupport
import RelayCore
import RokuPay
import StoreAPI
import StoreTestSupport
import Testing

@testable import Webhooks

/// Each client's name for the same failure.
struct ClientErrorTests {
    struct Trouble: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [RawStep]
        var word: OutboundError
        var scheme = "http"
        /// Whether the head of the answer arrived, which is enough for webhooks and notifications.
        var hasHead = false
    }

    private static let troubles = [
        Trouble(testDescription: "closes at once", steps: [.close], word: .connectionClosed),
        Trouble(
            testDescription: "closes in the head", steps: [.write("HTTP/1.1 200 OK\r\nConte"), .close],
            word: .connectionClosed),
        Trouble(
            testDescription: "closes in the body",
            steps: [.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), .close], word: .connectionClosed,
            hasHead: true),
        Trouble(
            testDescription: "speaks no HTTP", steps: [.write("hello, who is there?\r\n\r\n")], word: .unreadable),
        Trouble(testDescription: "never answers", steps: [], word: .timeout),
        Trouble(
            testDescription: "never ends",
            steps: [.write("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), .trickle], word: .timeout, hasHead: true),
        Trouble(
            testDescription: "announces too much",
            steps: [.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")], word: .responseTooLarge,
            hasHead: true),
        Trouble(testDescription: "never shakes hands", steps: [], word: .timeout, scheme: "https"),
        Trouble(
            testDescription: "speaks no TLS", steps: [.write("HTTP/1.1 400 Bad Request\r\n\r\n")], word: .tls,
            scheme: "https"),
    ]

    @Test(arguments: Caller.allCases, troubles)
    func theSameTroubleIsTheSameWord(caller: Caller, trouble: Trouble) async throws {
        // Only timeouts get a short limit, since a busy machine may take seconds for a short exchange. A handshake ends
        // by the connect timeout, every other step by the call's own.
        let isHandshake = trouble.scheme == "https"
        let limit = trouble.word != .timeout ? Duration.seconds(60) : trouble.hasHead ? .seconds(5) : .seconds(1)
        let word = try await withRawServer(trouble.steps) { url in
            try await caller.word(
                url.replacing("http:", with: "\(trouble.scheme):"), timeout: isHandshake ? .seconds(60) : limit,
                connectTimeout: isHandshake ? limit : .seconds(5))
        }
        let goesByStatus = caller == .webhook || caller == .notification
        let expected = trouble.hasHead && goesByStatus ? "delivered" : caller.word(for: trouble.word)
        #expect(word == expected)
    }

    @Test(arguments: Caller.allCases) func nobodyThere(caller: Caller) async throws {
        let word = try await withPortOfNobody { try await caller.word("http://127.0.0.1:\($0)") }
        #expect(word == caller.word(for: .connectionFailed))
    }

    // All waiting callers share one request for Google's token, so that one cancelled caller does not end it.
    @Test(arguments: Caller.allCases.filter { $0 != .google }) func cancelled(caller: Caller) async throws {
        let word = try await withRawServer([]) { url in
            let call = Task { try await caller.word(url) }
            try await Task.sleep(for: .milliseconds(300))
            call.cancel()
            return try await call.value
        }
        #expect(word == caller.word(for: .cancelled))
    }
}

enum Caller: CaseIterable, Sendable {
    case cleeng, notification, appStore, ocsp, google, amazon, roku, webhook

    private static let account: ServiceAccount? = {
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { return nil }
        let fields = [
            "type": "service_account", "client_email": "relay@example.test", "private_key": key.pemRepresentation,
        ]
        guard let json = try? JSONEncoder().encode(fields) else { return nil }
        return try? ServiceAccount(json: json)
    }()

    /// Cleeng's error names are part of the interface and include none for TLS.
    func word(for error: OutboundError) -> String {
        switch self {
        case .cleeng, .notification: error == .tls ? "connection_failed" : error.rawValue
        case .appStore, .ocsp, .google, .amazon, .roku: error.rawValue
        // Text in the ops views of an endpoint; several errors share one.
        case .webhook: WebhookTrouble.exchange(error).description
        }
    }

    func word(
        _ url: String, timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(5)
    ) async throws -> String {
        if self == .webhook { return await webhook(url, timeout: timeout, connectTimeout: connectTimeout) }
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: .outbound(connectTimeout: connectTimeout))
        do {
            let word = try await word(url, timeout, connectTimeout, http)
            try await http.shutdown()
            return word
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    private func word(
        _ url: String, _ timeout: Duration, _ connectTimeout: Duration, _ http: HTTPClient
    ) async throws -> String {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        switch self {
        case .cleeng:
            let configuration = try CleengConfiguration(
                publisherToken: Secret("token"), paymentURL: url, apiURL: url, upstreamTimeout: timeout)
            let connections = KeptConnections(connectTimeout: connectTimeout)
            defer { connections.shutDown() }
            let client = CleengClient(configuration, connections: connections, logger: logger)
            guard case .tryAgain(let trouble) = await client.customer(1) else { return "?" }
            return trouble.rawValue
        case .notification:
            let client = NotificationClient(url: url, timeout: timeout, httpClient: http, logger: logger)
            return await client.deliver(Array("{}".utf8)).verdict.shortDescription
        case .appStore:
            let client = AppStoreServerClient(
                urls: [.sandbox: url],
                credentials: try AppStoreCredentials(
                    key: ES256PrivateKey().pemRepresentation, keyID: "KEY",
                    issuerID: "57246542-96fe-1a63-e053-0824d011072a"),
                timeout: timeout, httpClient: http, logger: logger)
            guard case .tryAgain(let word, _) = await client.statuses(of: "1", in: .sandbox, bundleID: "com.example")
            else { return "?" }
            return word
        case .ocsp:
            do {
                _ = try await OCSPClient(url: url, timeout: timeout, httpClient: http).ask([0], path: "/ocsp03-a")
                return "?"
            } catch {
                return error.description
            }
        case .google:
            let client = GooglePlayClient(
                url: url, tokenURL: url + "/token", account: try #require(Self.account), timeout: timeout,
                httpClient: http, logger: logger)
            guard
                case .tryAgain(let word, _) = await client.subscription(
                    token: "t", packageName: "com.example", readAt: Timestamp(seconds: 0))
            else { return "?" }
            return String(word.trimmingPrefix("token_"))
        case .amazon:
            let client = AmazonReceiptClient(
                url: url, secret: try #require(AmazonSecret("secret")), timeout: timeout, httpClient: http,
                logger: logger)
            guard
                case .tryAgain(let word, _) = await client.receipt("r", userID: "u", readAt: Timestamp(seconds: 0))
            else { return "?" }
            return word
        case .roku:
            let client = RokuTransactionClient(
                url: url, key: try #require(RokuAPIKey("key")), timeout: timeout, httpClient: http, logger: logger)
            guard case .tryAgain(let word, _) = await client.transaction("t", readAt: Timestamp(seconds: 0))
            else { return "?" }
            return word
        case .webhook: return "?"
        }
    }

    private func webhook(_ url: String, timeout: Duration, connectTimeout: Duration) async -> String {
        let client = WebhookClient(
            timeout: timeout, policy: AddressPolicy(allowing: ["127.0.0.0/8"].compactMap { AddressRange($0) }),
            hosts: HostDirectory(), adjust: { $0.timeout.connect = TimeAmount(connectTimeout) })
        let message = WebhookMessage(id: "msg-1", body: Array("{}".utf8))
        let result = await client.send(message, to: url, with: WebhookCredentials(), of: "main", at: nil)
        await client.shutDown()
        if result.verdict == .delivered { return "delivered" }
        return result.error ?? "?"
    }
}
