import HTTPTypes
import Hummingbird
import NIOCore
import SimulatorKit

/// The simulated Cleeng over HTTP.
struct CleengFront: Sendable {
    let simulator: Simulator

    func respond(
        to request: Request, segments: [String], on connection: Connection
    ) async throws -> Response {
        let startedAt = simulator.clock.now()
        let token = TokenPresence(
            request.headers[.publisherToken], expected: simulator.publisherToken)
        let body = try await Self.collect(request)
        let call = CleengCall(
            method: request.method.rawValue, path: String(request.uri.path.prefix(512)), segments: segments,
            query: QueryItems(request.uri.query), headers: Self.shown(request.headers, token), token: token,
            correlationId: request.headers[.correlationId], startedAt: startedAt, body: body,
            publisherToken: simulator.publisherToken, identity: simulator.identity)
        let verdict = simulator.begin(call)
        if verdict.delayMilliseconds > 0 {
            guard await connection.wait(milliseconds: verdict.delayMilliseconds) else {
                simulator.end(verdict, outcome: .clientLeft)
                throw ConnectionGone()
            }
        }
        switch verdict.ending {
        case .answer(let reply):
            simulator.end(verdict, outcome: .answered, status: reply.status)
            return Response(reply)
        case .hang:
            await connection.waitUntilClosed()
            simulator.end(verdict, outcome: .hung)
        case .reset(let processed):
            simulator.end(verdict, outcome: processed ? .lostAnswer : .reset)
            await connection.reset()
        }
        throw ConnectionGone()
    }

    /// - Returns: nil where the body is larger than the limit.
    static func collect(_ request: Request) async throws -> [UInt8]? {
        do {
            let buffer = try await request.body.collect(upTo: Simulator.bodyLimit)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            return nil
        }
    }

    /// Header fields for the log, without secrets.
    private static func shown(_ fields: HTTPFields, _ token: TokenPresence) -> [NamedValue] {
        fields.prefix(32).map { field in
            let value: String =
                switch field.name {
                case .publisherToken: token.rawValue
                case .authorization, .cookie, .proxyAuthorization: TokenPresence.present.rawValue
                default: Redaction.bounded(field.value)
                }
            return NamedValue(name: field.name.canonicalName, value: value)
        }
    }
}

extension HTTPField.Name {
    /// `X-Publisher-Token`; the literal is a valid field name.
    static let publisherToken = HTTPField.Name("X-Publisher-Token") ?? .authorization
    /// `Correlation-Id`; the literal is a valid field name.
    static let correlationId = HTTPField.Name("Correlation-Id") ?? .authorization
}
