import HTTPTypes
import Hummingbird
import Instrumentation
import NIOHTTP1

/// Wraps every request: gives it an id, records its log line and metrics, and answers errors.
struct FrontMiddleware: RouterMiddleware {
    let allowed: AllowedMethods
    let recorder: RequestRecorder
    var dialects: [ErrorDialect] = []
    /// Nil: there are no limits.
    var limits: RateLimits?
    /// Whether a request without a trace may begin one.
    var beginsTraces = false

    func handle(
        _ request: Request, context: FrontContext,
        next: @concurrent (Request, FrontContext) async throws -> Response
    ) async throws -> Response {
        let begin = ContinuousClock.now
        let requestID = RequestID.of(request.headers)
        let span = RequestSpan.start(request.head, begins: beginsTraces)
        let finish = { @Sendable (outcome: Result<Response, any Error>) in
            try self.finish(request, context, outcome, begin: begin, requestID: requestID, span)
        }
        let outcome: Result<Response, any Error>
        do {
            try limits?.take(request, context)
            outcome = .success(try await within(span) { try await next(request, context) })
        } catch {
            outcome = .failure(error)
        }
        guard let later = context.notes.takeLater() else { return try finish(outcome) }
        let finished: RequestNotes.Later = {
            let outcome: Result<Response, any Error>
            do {
                outcome = .success(try await later())
            } catch {
                outcome = .failure(error)
            }
            return try finish(outcome)
        }
        if let span {
            context.notes.answer {
                try await InstrumentationContext.$current.withValue(span.context) { try await finished() }
            }
        } else {
            context.notes.answer(later: finished)
        }
        return Response(status: .noContent)
    }

    /// Runs work with the request's trace as its context.
    private func within(_ span: RequestSpan?, _ work: () async throws -> Response) async throws -> Response {
        guard let span else { return try await work() }
        return try await InstrumentationContext.$current.withValue(span.context) { try await work() }
    }

    private func finish(
        _ request: Request, _ context: FrontContext, _ outcome: Result<Response, any Error>,
        begin: ContinuousClock.Instant, requestID: String, _ span: RequestSpan?
    ) throws -> Response {
        var route = context.endpointPath ?? ""
        var response: Response
        var (code, cause): (ProblemCode?, (any Error)?) = (nil, nil)
        do {
            response = try outcome.get()
        } catch let error as HTTPParserError {
            // The connection answers this error and closes.
            throw error
        } catch is ClientGone {
            response = Response(status: HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"))
        } catch let error as HTTPError where error.status == .notFound {
            // Only the router throws this error.
            let problem = unrouted(request)
            response = problem.response(at: request.uri.path, dialects)
            code = problem.code
            route = ""
        } catch {
            let problem = Problem(describing: error)
            response = problem.response(at: request.uri.path, dialects)
            code = problem.code
            if problem.status.kind == .serverError { cause = error }
        }
        let record = RequestRecorder.Record(
            method: request.method, route: route, status: response.status, duration: ContinuousClock.now - begin,
            requestID: requestID, validation: context.notes.validation, keyID: context.notes.keyID, code: code,
            cause: cause)
        recorder.complete(&response.headers, of: request.headers, context.notes.quotas, span, record)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func unrouted(_ request: Request) -> Problem {
        guard let allow = allowed.allow(request.uri.path) else {
            return Problem(.notFound, "nothing has this address")
        }
        return Problem(.methodNotAllowed, "use \(allow)", headers: [.allow: allow])
    }
}
