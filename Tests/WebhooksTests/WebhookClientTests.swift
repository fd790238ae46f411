import Crypto
import Formats
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ReceiverSupport
import RelayCore
import Testing

@testable import Webhooks

@Suite("Messages on the wire")
struct WebhookClientTests {
    private static let keys = [Data((0..<24).map { UInt8($0) }), Data((0..<32).map { UInt8(200 - $0) })]
    private static let secrets = keys.compactMap { SigningSecret("whsec_" + $0.base64EncodedString()) }

    private static let credentials = WebhookCredentials(password: "s3\"t", secrets: secrets)

    /// A client for the duration of a test; allows loopback by default.
    private func withClient(
        allowing ranges: [String] = ["127.0.0.0/8"], timeout: Duration = .seconds(5),
        hosts: HostDirectory = HostDirectory(), _ body: (WebhookClient) async throws -> Void
    ) async throws {
        let client = WebhookClient(
            timeout: timeout, policy: AddressPolicy(allowing: ranges.compactMap { AddressRange($0) }), hosts: hosts)
        do {
            try await body(client)
        } catch {
            await client.shutDown()
            throw error
        }
        await client.shutDown()
    }

    private static let message = WebhookMessage(id: "msg-1", body: Array(#"{"type":"test"}"#.utf8))

    @Test("each secret signs id, second and body, so that a receiver with one secret can verify it")
    func signature() async throws {
        try await withReceiver { port, received in
            try await withClient { client in
                let stored = #"{"type":"purchases.updated","applicationUsername":"ü"}"#
                let message = Self.credentials.message(id: "abc", stored: stored, first: Self.credentials.mark)
                let result = await client.send(
                    message, to: "http://127.0.0.1:\(port)/hook?a=b", with: Self.credentials, of: "main",
                    at: Timestamp(seconds: 1_614_265_330))
                #expect(result.verdict == .delivered && result.status == 200)
                let got = try #require(received().first)
                #expect(got.body == #"{"type":"purchases.updated","password":"s3\"t","applicationUsername":"ü"}"#)
                #expect(got.path == "/hook" && got.headers["webhook-id"] == "abc")
                #expect(got.headers["content-type"] == "application/json")
                #expect(got.headers["host"] == "127.0.0.1:\(port)")
                let second = try #require(got.headers["webhook-timestamp"].flatMap { Int($0) })
                // The timestamp is the database's time, whatever the host's clock shows.
                #expect(second == 1_614_265_330)
                let signatures = got.headers["webhook-signature"]?.split(separator: " ").map(String.init)
                let expected = Self.keys.map { key in
                    var code = HMAC<SHA256>(key: SymmetricKey(data: key))
                    code.update(data: Data("abc.\(second).\(got.body)".utf8))
                    return "v1," + Data(code.finalize()).base64EncodedString()
                }
                #expect(signatures == expected)
            }
        }
    }

    @Test("the example of the Standard Webhooks specification")
    func specification() throws {
        let secret = try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let message = WebhookMessage(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(
            secret.signature(of: message.signedContent(secondsSince1970: 1_614_265_330))
                == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        for text in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_***"] {
            #expect(SigningSecret(text) == nil)
        }
        #expect("\(secret)" == "***" && String(reflecting: WebhookCredentials(password: "pw")) == "***")
    }

    @Test("a redirect is a failure and leads nowhere; 410 is the end; only 2xx is success")
    func answers() async throws {
        try await withReceiver { received in
            switch received.path {
            case "/302": Response(status: .found, headers: [.location: "/200"])
            case "/410": Response(status: .gone)
            case "/503": Response(status: .serviceUnavailable, headers: [.retryAfter: "7"])
            case "/204": Response(status: .noContent)
            default: Response(status: .ok)
            }
        } _: { port, received in
            try await withClient { client in
                func send(_ path: String) async -> WebhookResult {
                    await client.send(
                        Self.message, to: "http://127.0.0.1:\(port)\(path)", with: Self.credentials, of: "main", at: nil
                    )
                }
                let redirect = await send("/302")
                #expect(redirect.verdict == .failed && redirect.status == 302)
                #expect(await send("/410").verdict == .gone)
                let busy = await send("/503")
                #expect(busy.verdict == .failed && busy.retryAfter == .seconds(7))
                #expect(await send("/204").verdict == .delivered)
                #expect(received().map(\.path) == ["/302", "/410", "/503", "/204"])
            }
        }
    }

    @Test("a missing answer is a failure; an endless body is not")
    func slow() async throws {
        try await withReceiver { received in
            if received.path == "/hangs" {
                try? await Task.sleep(for: .seconds(30))
                return Response(status: .ok)
            }
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    // Writes until the client has closed the connection.
                    let chunk = ByteBuffer(repeating: 0x20, count: 32 << 10)
                    while true {
                        try await writer.write(chunk)
                        if received.path == "/trickles" { try await Task.sleep(for: .milliseconds(200)) }
                    }
                })
        } _: { port, _ in
            try await withClient(timeout: .milliseconds(600)) { client in
                let result = await client.send(
                    Self.message, to: "http://127.0.0.1:\(port)/hangs", with: Self.credentials, of: "main", at: nil)
                #expect(result.verdict == .failed && result.status == nil && result.error == "no answer in time")
            }
            try await withClient(timeout: .seconds(3_600)) { client in
                #expect(
                    await client.send(
                        Self.message, to: "http://127.0.0.1:\(port)/huge", with: Self.credentials, of: "main", at: nil
                    ).verdict
                        == .delivered)
                #expect(
                    await client.send(
                        Self.message, to: "http://127.0.0.1:\(port)/trickles", with: Self.credentials, of: "main",
                        at: nil
                    )
                    .verdict == .delivered)
            }
        }
    }

    @Test("no server, a closed connection and an answer that is not HTTP are failures")
    func broken() async throws {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { $0.pipeline.addHandler(Babbler()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await withClient { client in
            let noise = await client.send(
                Self.message, to: "http://127.0.0.1:\(port)/", with: Self.credentials, of: "main", at: nil)
            #expect(noise.verdict == .failed && noise.error != nil && noise.status == nil)
            try await channel.close()
            let nobody = try await withPortOfNobody {
                await client.send(
                    Self.message, to: "http://127.0.0.1:\($0)/", with: Self.credentials, of: "main", at: nil)
            }
            #expect(nobody.verdict == .failed && nobody.error == "no connection could be made")
            let unknown = await client.send(
                Self.message, to: "http://nobody.invalid/", with: Self.credentials, of: "main", at: nil)
            #expect(unknown.verdict == .failed && unknown.error == "the host name could not be resolved")
        }
    }

    @Test(
        "no internal address is connected to, in any spelling",
        arguments: ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0"])
    func refused(host: String) async throws {
        try await withReceiver { port, received in
            try await withClient(allowing: []) { client in
                let result = await client.send(
                    Self.message, to: "http://\(host):\(port)/", with: Self.credentials, of: "main", at: nil)
                #expect(result.verdict == .refused)
                #expect(result.error?.contains("RELAY_WEBHOOK_ALLOW_NETWORKS") == true)
                #expect(received().isEmpty)
            }
        }
    }

    @Test("the vetted address is called: the name is not looked up again, and stays in the request")
    func pinned() async throws {
        // The second answer simulates an attacker's name server, after the first address was checked.
        let asked = NIOLockedValueBox(0)
        let hosts = HostDirectory(lifetime: .seconds(60)) { _ in
            let count = asked.withLockedValue { count in
                count += 1
                return count
            }
            return [IPAddress(count == 1 ? "127.0.0.1" : "10.0.0.1")].compactMap(\.self)
        }
        try await withReceiver { port, received in
            try await withClient(hosts: hosts) { client in
                for _ in 0..<2 {
                    #expect(
                        await client.send(
                            Self.message, to: "http://shop.example.com:\(port)/", with: Self.credentials, of: "main",
                            at: nil
                        )
                        .verdict == .delivered)
                }
                #expect(received().map { $0.headers["host"] } == Array(repeating: "shop.example.com:\(port)", count: 2))
                #expect(asked.withLockedValue { $0 } == 1)
            }
        }
    }

    @Test("an expired name is looked up and vetted again")
    func rebound() async throws {
        let asked = NIOLockedValueBox(0)
        let hosts = HostDirectory(lifetime: .zero, staleFor: .zero) { _ in
            let count = asked.withLockedValue { count in
                count += 1
                return count
            }
            return [IPAddress(count == 1 ? "127.0.0.1" : "169.254.169.254")].compactMap(\.self)
        }
        try await withReceiver { port, received in
            try await withClient(hosts: hosts) { client in
                let url = "http://shop.example.com:\(port)/"
                #expect(
                    await client.send(Self.message, to: url, with: Self.credentials, of: "main", at: nil).verdict
                        == .delivered)
                let second = await client.send(Self.message, to: url, with: Self.credentials, of: "main", at: nil)
                #expect(second.verdict == .refused && second.error?.contains("169.254.169.254") == true)
                #expect(received().count == 1)
            }
        }
    }

    @Test("of several addresses only allowed ones are called, and the next one if the first does not answer")
    func several() async throws {
        let hosts = HostDirectory { _ in ["10.0.0.1", "127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) } }
        try await withReceiver { port, received in
            try await withClient(hosts: hosts) { client in
                #expect(
                    await client.send(
                        Self.message, to: "http://shop.example.com:\(port)/", with: Self.credentials, of: "main",
                        at: nil
                    )
                    .verdict == .delivered)
                #expect(received().count == 1)
            }
        }
    }

    @Test("of many addresses the first, one of the other family, and any other one is called")
    func families() throws {
        func order(_ texts: [String]) -> [IPAddress] { GuardedClient.order(texts.compactMap { IPAddress($0) }) }
        let dead = try ["fd00::1", "fd00::2", "fd00::3"].map { try #require(IPAddress($0)) }
        let well = try #require(IPAddress("127.0.0.1"))
        var thirds: Set<IPAddress> = []
        for _ in 0..<100 {
            let tried = order(["fd00::1", "fd00::2", "fd00::3", "127.0.0.1"])
            #expect(tried.count == 3 && tried.prefix(2) == [dead[0], well])
            thirds.formUnion(tried.suffix(1))
        }
        #expect(thirds == [dead[1], dead[2]])
        #expect(Set(order(["fd00::1", "fd00::2", "fd00::3"])) == Set(dead))
        #expect(order(["127.0.0.1"]) == [well] && order([]).isEmpty)
    }

    @Test("a hanging name server delays only its own name, at most for the time of a try")
    func hangingLookup() async throws {
        let release = DispatchSemaphore(value: 0)
        let hosts = HostDirectory { host in
            if host.hasPrefix("hangs") { release.wait() }
            return [IPAddress("127.0.0.1")].compactMap(\.self)
        }
        try await withReceiver { port, _ in
            try await withClient(timeout: .milliseconds(400), hosts: hosts) { hasty in
                try await withClient(timeout: .seconds(60), hosts: hosts) { client in
                    async let hanging = hasty.send(
                        Self.message, to: "http://hangs.example.com:\(port)/", with: Self.credentials, of: "main",
                        at: nil)
                    #expect(
                        await client.send(
                            Self.message, to: "http://well.example.com:\(port)/", with: Self.credentials, of: "main",
                            at: nil
                        )
                        .verdict == .delivered)
                    let result = await hanging
                    #expect(result.verdict == .failed && result.error == "no answer in time")
                    release.signal()
                }
            }
        }
    }

    @Test("a new password makes a new id, and the body of an id never changes")
    func passwords() {
        let (one, two) = (WebhookCredentials(password: "one"), WebhookCredentials(password: "two"))
        let stored = #"{"type":"purchases.updated","x":1}"#
        let first = one.message(id: "abc", stored: stored, first: one.mark)
        #expect(first.id == "abc")
        #expect(two.message(id: "abc", stored: stored, first: one.mark).id != "abc")
        #expect(one.message(id: "abc", stored: stored, first: one.mark) == first)
        // In a message without a place for it, the mark changes nothing.
        #expect(two.message(id: "abc", stored: "{}", first: one.mark).id == "abc")
    }
}

/// Answers every request with bytes that are not HTTP.
private final class Babbler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "hello, who is there?\r\n\r\n")), promise: nil)
    }
}
