import Formats
import HTTPServer
import HTTPTypes
import Hummingbird
import Relay
import RelayCore

/// Shared parts of the console's pages: the session, the frame, the answer.
struct ConsoleContext: Sendable {
    let store: RelayStore
    let pages: ConsolePages
    let keys: KeyRing
    let sections: [Section]
    let summaries: ScopedSummaries

    /// - Parameter sections: the pages linked from every page.
    init(store: RelayStore, pages: ConsolePages, keys: KeyRing, sections: [Section]) {
        self.store = store
        self.pages = pages
        self.keys = keys
        self.sections = sections
        summaries = ScopedSummaries(store: store)
    }

    static let signInPath = "/console/sign-in"
    private static let mostFormBytes = 64 << 10

    /// A page for signed-in visitors only.
    func page(_ path: String, _ show: @escaping @Sendable (ConsoleVisit) async throws -> Response) -> Route {
        .get(path) { request, context in
            guard let visit = try await visit(request, context) else { return Self.toSignIn(request) }
            return try await show(visit)
        }
    }

    /// An action: a form that a page of the console has sent.
    func action(
        _ path: String, _ act: @escaping @Sendable (ConsoleVisit, FormBody) async throws -> Response
    ) -> Route {
        .post(path) { request, context in
            guard let visit = try await visit(request, context) else { return Self.toSignIn(request) }
            return try await act(visit, try await form(of: visit))
        }
    }

    private func form(of visit: ConsoleVisit) async throws -> FormBody {
        let form = try await form(visit.request)
        try visit.check(form)
        try visit.checkOperator()
        return form
    }

    /// Nil if the visitor is not signed in.
    func visit(_ request: Request, _ context: FrontContext) async throws -> ConsoleVisit? {
        guard let token = SessionCookie.token(in: request.headers), let session = try await store.sessions.find(token)
        else {
            return nil
        }
        context.notes.caller = session.key.id.text
        return ConsoleVisit(
            console: self, request: request, context: context, query: ConsoleQuery(request), session: session,
            token: token)
    }

    func form(_ request: Request) async throws -> FormBody {
        try FormBody(try await BodyReader(maximumBytes: Self.mostFormBytes).read(request, ofAnyType: true))
    }

    /// Whether the request comes from the console's own site, if the browser reports it.
    static func isOwnSite(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite] else { return true }
        return site == "same-origin" || site == "none"
    }

    private static func toSignIn(_ request: Request) -> Response {
        let next = request.method == .get ? "?next=" + request.uri.string.percentEncoded : ""
        return redirect(signInPath + next)
    }

    /// The frame of a page that needs no session.
    func frame(_ title: String) -> Frame {
        var frame = Frame(title: title, assets: pages.assets)
        frame.renderedAt = store.memory.clock.now.map { ConsoleText.time($0) }
        return frame
    }

    func response(_ page: some ConsolePage, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: Self.headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: pages.render(page))))
    }

    static func redirect(_ path: String, cookie: String? = nil) -> Response {
        var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }

    /// The error page for console visitors.
    static func problem(_ problem: Problem, _ pages: ConsolePages) -> Response {
        var headers = problem.headers
        for field in Self.headers { headers[field.name] = field.value }
        headers[.wwwAuthenticate] = nil
        let page = ProblemPage(Frame(title: problem.code.title, assets: pages.assets), detail: problem.detail)
        return Response(
            status: problem.status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: pages.render(page))))
    }

    /// Forbids content from other sites, inline content, framing and caching.
    private static let headers: HTTPFields = [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .contentSecurityPolicy:
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff", .referrerPolicy: "strict-origin", .crossOriginOpenerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
    ]
}

// Unwrapping is safe: a name is refused only for characters outside of RFC 9110's token, and these are literals.
extension HTTPField.Name {
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto")!
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
}
