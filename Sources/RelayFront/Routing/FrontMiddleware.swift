import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import RelayCore
import Telemetry

/// Around every request: its id, its place in the log and the metrics, and an answer to whatever went wrong.
struct FrontMiddleware: RouterMiddleware {
    let allowed: AllowedMethods
    let metrics: FrontMetrics
    let logger: Logger

    func handle(
        _ request: Request, context: FrontContext, next: (Request, FrontContext) async throws -> Response
    ) async throws -> Response {
        let begin = ContinuousClock.now
        let requestID = RequestID.of(request.headers)
        var route = ""
        var response: Response
        var cause: (any Error)?
        do {
            response = try await next(request, context)
            route = context.endpointPath ?? ""
        } catch let error as HTTPParserError {
            // Hummingbird answers it itself and closes the connection.
            throw error
        } catch is ClientGone {
            response = Response(status: HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"))
            route = context.endpointPath ?? ""
        } catch let error as HTTPError where error.status == .notFound {
            // Only the router throws this one.
            response = unrouted(request).response
        } catch {
            let problem = Problem(describing: error)
            response = problem.response
            route = context.endpointPath ?? ""
            if problem.status.kind == .serverError { cause = error }
        }
        response.headers[.xRequestID] = requestID
        if let wish = request.headers[.connection], wish.lowercased() == "close" {
            response.headers[.connection] = "close"
        }
        let duration = ContinuousClock.now - begin
        metrics.record(route: route, method: request.method, status: response.status, duration: duration)
        log(
            request, context, route: route, status: response.status, duration: duration, requestID: requestID,
            cause: cause)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func unrouted(_ request: Request) -> Problem {
        guard let allow = allowed.allow(request.uri.path) else {
            return Problem(.notFound, "nothing has this address")
        }
        return Problem(.methodNotAllowed, "use \(allow)", headers: [.allow: allow])
    }

    private func log(
        _ request: Request, _ context: FrontContext, route: String, status: HTTPResponse.Status, duration: Duration,
        requestID: String, cause: (any Error)?
    ) {
        let level: Logger.Level
        switch status.code {
        case 500: level = .error
        case 501...: level = .warning
        case 499: level = .debug
        case 400...: level = .info
        default: level = request.method == .post ? .info : .debug
        }
        guard level >= logger.logLevel else { return }
        var metadata = Logger.Metadata([
            .method: .string(FrontMetrics.name(of: request.method)), .route: .string(route.isEmpty ? "none" : route),
            .status: .number(status.code), .durationMs: .milliseconds(duration), .requestId: .string(requestID),
        ])
        if let id = context.notes.validation { metadata[.validationId] = .string("\(id)") }
        if let id = context.notes.keyID { metadata[.keyId] = .string(id) }
        if let cause { metadata[.error] = .string("\(cause)") }
        logger.log(level: level, "request", metadata: metadata)
    }
}
