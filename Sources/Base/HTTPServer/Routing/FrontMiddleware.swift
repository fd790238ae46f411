import HTTPTypes
import Hummingbird
import Instrumentation
import NIOHTTP1

/// Wraps every request that goes through the router: takes it through the gate, and answers errors.
struct FrontMiddleware: RouterMiddleware {
    let allowed: AllowedMethods
    let gate: RequestGate
    /// Paths without a rate limit.
    let unlimited: Set<String>
    let dialects: [ErrorDialect]
    /// The client's problem for an error that a route threw.
    let describe: @Sendable (any Error) -> Problem

    func handle(
        _ request: Request, context: FrontContext,
        next: @concurrent (Request, FrontContext) async throws -> Response
    ) async throws -> Response {
        let pass = gate.enter(request.head)
        let finish = { @Sendable (outcome: Result<Response, any Error>) in
            try self.finish(request, context, outcome, pass)
        }
        let outcome: Result<Response, any Error>
        do {
            if !unlimited.contains(request.uri.path) { try gate.limits?.take(request, context) }
            outcome = .success(try await within(pass.span) { try await next(request, context) })
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
        if let span = pass.span {
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
        _ request: Request, _ context: FrontContext, _ result: Result<Response, any Error>, _ pass: RequestGate.Pass
    ) throws -> Response {
        var response: Response
        var route = context.endpointPath ?? ""
        var (code, cause): (ProblemCode?, (any Error)?) = (nil, nil)
        do {
            response = try result.get()
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
            let problem = describe(error)
            response = problem.response(at: request.uri.path, dialects)
            code = problem.code
            if problem.status.kind == .serverError { cause = error }
        }
        let notes = context.notes
        gate.leave(
            pass, &response.headers, of: request.headers,
            RequestGate.Outcome(
                route: route, status: response.status, subject: notes.subject, caller: notes.caller,
                quotas: notes.quotas, code: code, cause: cause))
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func unrouted(_ request: Request) -> Problem {
        guard let allow = allowed.allow(request.uri.path) else {
            return Problem(.notFound, "nothing has this address")
        }
        return Problem(.methodNotAllowed, "use \(allow)", headers: [.allow: allow])
    }
}
