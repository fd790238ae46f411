import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SimulatorKit

/// A simulated store over HTTP: control calls go one way, all others the other, unknown addresses included.
struct StoreResponder<Store: SimulatedStore>: HTTPResponder {
    typealias Context = SimulatorContext

    let front: StoreFront<Store>

    /// Of a body, in bytes.
    private static var bodyLimit: Int { 65_536 }

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let call = try await Self.read(request)
        if call.segments.first == "control" { return Response(front.control(call)) }
        let verdict = front.begin(call)
        if verdict.delayMilliseconds > 0 {
            guard await context.connection.wait(milliseconds: verdict.delayMilliseconds) else { throw ConnectionGone() }
        }
        switch verdict.ending {
        case .answer(let reply): return Response(reply)
        case .hang: await context.connection.waitUntilClosed()
        case .reset: await context.connection.reset()
        }
        throw ConnectionGone()
    }

    private static func read(_ request: Request) async throws -> StoreCall {
        var body: Data?
        do {
            body = Data(try await request.body.collect(upTo: bodyLimit).readableBytesView)
        } catch is NIOTooManyBytesError {}
        return StoreCall(
            method: request.method.rawValue, path: request.uri.path,
            segments: PathSegments.decode(request.uri.path), query: request.uri.query,
            authorization: request.headers[.authorization], host: request.head.authority, body: body)
    }
}

extension Response {
    init(_ reply: Reply) {
        var headers: HTTPFields = [:]
        if reply.body != nil { headers[.contentType] = "application/json" }
        headers[.retryAfter] = reply.retryAfter
        headers[.allow] = reply.allow
        self.init(
            status: .init(code: reply.status), headers: headers,
            body: reply.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? .init())
    }
}
