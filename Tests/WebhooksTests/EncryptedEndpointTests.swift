import AsyncHTTPClient
import Crypto
import Formats
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import OutboundHTTP
import RelayCore
import SwiftASN1
import Testing
import X509

@testable import Webhooks

@Suite("Endpoints that are called by https")
struct EncryptedEndpointTests {
    private static let message = WebhookMessage(id: "msg-1", body: Array(#"{"type":"test"}"#.utf8))

    /// An HTTPS server with its own certificate for a name; it answers 200.
    private final class Endpoint: Sendable {
        let port: Int
        let certificate: NIOSSLCertificate
        private let channel: any Channel
        private let heard: NIOLockedValueBox<Int>

        /// Bytes received after the handshake.
        var bytes: Int { heard.withLockedValue { $0 } }

        init(named name: String) async throws {
            let (certificate, key) = try Self.credentials(name)
            let context = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
            let heard = NIOLockedValueBox(0)
            channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            NIOSSLServerHandler(context: context), Answering(heard: heard),
                        ])
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            self.certificate = certificate
            self.heard = heard
            port = channel.localAddress?.port ?? 0
        }

        func close() async throws { try await channel.close() }

        private static func credentials(_ name: String) throws -> (NIOSSLCertificate, NIOSSLPrivateKey) {
            let key = P256.Signing.PrivateKey()
            let subject = try DistinguishedName { CommonName("a test's endpoint") }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: Date() - 3_600, notValidAfter: Date() + 86_400, issuer: subject, subject: subject,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    SubjectAlternativeNames([.dnsName(name)])
                }, issuerPrivateKey: .init(key))
            return (
                try NIOSSLCertificate(
                    bytes: Array(try certificate.serializeAsPEM().pemString.utf8), format: .pem),
                try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
            )
        }
    }

    private final class Answering: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let heard: NIOLockedValueBox<Int>

        init(heard: NIOLockedValueBox<Int>) { self.heard = heard }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let count = unwrapInboundIn(data).readableBytes
            heard.withLockedValue { $0 += count }
            let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// - Parameter trusted: the only trusted certificate; nil: those that the system trusts.
    private func send(_ endpoint: Endpoint, to host: String, trusting trusted: NIOSSLCertificate?) async
        -> WebhookResult
    {
        let client = WebhookClient(
            timeout: .seconds(10), policy: AddressPolicy(allowing: ["127.0.0.0/8"].compactMap { AddressRange($0) }),
            hosts: HostDirectory { _ in [IPAddress("127.0.0.1")].compactMap(\.self) },
            adjust: { configuration in
                guard let trusted else { return }
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .certificates([trusted])
                configuration.tlsConfiguration = tls
            })
        let result = await client.send(
            Self.message, to: "https://\(host):\(endpoint.port)/hook", with: WebhookCredentials(), of: "main", at: nil)
        await client.shutDown()
        return result
    }

    @Test("a certificate must be for the called name, whatever address was pinned; otherwise nothing is sent")
    func names() async throws {
        let endpoint = try await Endpoint(named: "hooks.example.test")
        let good = await send(endpoint, to: "hooks.example.test", trusting: endpoint.certificate)
        #expect(good.verdict == .delivered && good.status == 200, "\(good)")
        let told = endpoint.bytes
        #expect(told > 0)
        for host in ["other.example.test", "example.test", "x.hooks.example.test", "127.0.0.1"] {
            let wrong = await send(endpoint, to: host, trusting: endpoint.certificate)
            #expect(wrong.verdict == .failed && wrong.status == nil, "\(host): \(wrong)")
            #expect(wrong.error == WebhookTrouble.exchange(.tls).description, "\(host)")
        }
        #expect(endpoint.bytes == told)
        try await endpoint.close()
    }

    @Test("an untrusted certificate is refused")
    func untrusted() async throws {
        let endpoint = try await Endpoint(named: "hooks.example.test")
        let result = await send(endpoint, to: "hooks.example.test", trusting: nil)
        #expect(result.verdict == .failed && result.error == WebhookTrouble.exchange(.tls).description, "\(result)")
        #expect(endpoint.bytes == 0)
        try await endpoint.close()
    }
}
