import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import SwiftASN1
import X509

/// An HTTP server whose answers depend on the path alone. It never answers `/hang`, closes the connection on `/close`,
/// and answers every other path with that path.
final class AnsweringServer: Sendable {
    struct Seen: Sendable {
        var connections = 0
        var openConnections = 0
        var mostOpenConnections = 0
        var requests: [String] = []
        /// Server names in clients' TLS handshakes; nil for a handshake without one.
        var names: [String?] = []
    }

    let port: Int
    private let channel: any Channel
    private let box: NIOLockedValueBox<Seen>
    private let children: NIOLockedValueBox<[any Channel]>

    var seen: Seen { box.withLockedValue { $0 } }

    init(tls: NIOSSLContext? = nil) async throws {
        let (box, children) = (NIOLockedValueBox(Seen()), NIOLockedValueBox<[any Channel]>([]))
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                children.withLockedValue { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        let names = ByteToMessageHandler(
                            SNIHandler { result in
                                if case .hostname(let name) = result {
                                    box.withLockedValue { $0.names.append(name) }
                                } else {
                                    box.withLockedValue { $0.names.append(nil) }
                                }
                                return channel.eventLoop.makeSucceededVoidFuture()
                            })
                        try pipeline.addHandlers([names, NIOSSLServerHandler(context: tls)])
                    }
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: false)
                    try pipeline.addHandler(Answering(box))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.box = box
        self.children = children
    }

    /// Closes all connections; the server still accepts new ones.
    func dropConnections() {
        for child in children.withLockedValue({ $0 }) { child.close(promise: nil) }
    }

    func close() async throws {
        dropConnections()
        try await channel.close()
    }
}

private final class Answering: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let box: NIOLockedValueBox<AnsweringServer.Seen>
    private var path = ""

    init(_ box: NIOLockedValueBox<AnsweringServer.Seen>) { self.box = box }

    func channelActive(context: ChannelHandlerContext) {
        box.withLockedValue { seen in
            seen.connections += 1
            seen.openConnections += 1
            seen.mostOpenConnections = max(seen.mostOpenConnections, seen.openConnections)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { box.withLockedValue { $0.openConnections -= 1 } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = head.uri
        case .body: break
        case .end:
            let path = path
            box.withLockedValue { $0.requests.append(path) }
            guard path != "/hang" else { return }
            var headers: HTTPHeaders = ["Content-Length": "\(path.utf8.count)"]
            if path == "/close" { headers.add(name: "Connection", value: "close") }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: path)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// A self-signed certificate for one name.
struct ServerCredentials {
    let certificate: NIOSSLCertificate
    let context: NIOSSLContext

    init(named name: String) throws {
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName("a test's server") }
        let signed = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: Date() - 3_600,
            notValidAfter: Date() + 86_400, issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName(name)])
            }, issuerPrivateKey: .init(key))
        certificate = try NIOSSLCertificate(bytes: Array(try signed.serializeAsPEM().pemString.utf8), format: .pem)
        context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))))
    }

    /// Trusts this certificate and nothing else.
    var trust: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([certificate])
        return tls
    }
}
