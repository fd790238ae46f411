import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SimulatorKit

/// The simulated API over HTTP: control calls go one way, all others the other, unknown addresses included.
struct ServerAPIResponder: HTTPResponder {
    typealias Context = SimulatorContext

    let api: ServerAPI

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let call = try await Self.read(request)
        if call.segments.first == "_simulator" { return Response(api.control(call)) }
        switch api.begin(call) {
        case .answer(let reply): return Response(reply)
        case .hang: await context.connection.waitUntilClosed()
        case .reset: await context.connection.reset()
        }
        throw ConnectionGone()
    }

    private static func read(_ request: Request) async throws -> APICall {
        var body: Data?
        do {
            body = Data(try await request.body.collect(upTo: ServerAPI.bodyLimit).readableBytesView)
        } catch is NIOTooManyBytesError {}
        return APICall(
            method: request.method.rawValue, path: request.uri.path,
            segments: PathSegments.decode(request.uri.path), query: request.uri.query,
            authorization: request.headers[.authorization], body: body)
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
