import ConsolePages
import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import RelayCore
import RelayStore

/// What all pages of the console have in common: who looks at them, what is around them, and how they are sent.
struct ConsoleDesk: Sendable {
    let store: RelayStore
    let pages: ConsolePages
    let keys: KeyRing
    private let summaries: ScopedSummaries

    init(store: RelayStore, pages: ConsolePages, keys: KeyRing) {
        self.store = store
        self.pages = pages
        self.keys = keys
        summaries = ScopedSummaries(store: store)
    }

    static let signInPath = "/console/sign-in"
    private static let mostFormBytes = 16 << 10

    /// Who is signed in.
    struct Visitor: Sendable {
        var session: ConsoleSession
        var token: ConsoleSession.Token

        var isOperator: Bool { session.key.role.opens(.opsOperator) }
        var actor: Actor { Actor(session.key) }
        var roleText: String {
            scope.publisher.map { "\(session.key.role.name) of \($0)" } ?? session.key.role.name
        }
        /// Whose rows the pages show, and the actions reach.
        var scope: OpsScope { session.key.opsScope }
    }

    /// A page that only who is signed in may see.
    func page(
        _ path: String,
        _ show: @escaping @Sendable (ConsoleDesk, Request, FrontContext, Visitor) async throws -> Response
    ) -> Route {
        .get(path) { request, context in
            guard let visitor = try await visitor(request, context) else { return Self.toSignIn(request) }
            return try await show(self, request, context, visitor)
        }
    }

    /// What an operator may do: a form that the console itself has sent out.
    func action(
        _ path: String,
        _ act: @escaping @Sendable (ConsoleDesk, FormBody, FrontContext, Visitor) async throws -> Response
    ) -> Route {
        .post(path) { request, context in
            guard let visitor = try await visitor(request, context) else { return Self.toSignIn(request) }
            let form = try await form(request)
            try check(form, visitor, request)
            guard visitor.isOperator else {
                throw Problem(.wrongRole, "this takes a key of the role \(KeyRole.opsOperator.name)")
            }
            return try await act(self, form, context, visitor)
        }
    }

    // MARK: Who

    func visitor(_ request: Request, _ context: FrontContext) async throws -> Visitor? {
        guard let token = SessionCookie.token(in: request.headers), let session = try await store.session(token) else {
            return nil
        }
        context.notes.keyID = session.key.id
        return Visitor(session: session, token: token)
    }

    func form(_ request: Request) async throws -> FormBody {
        try FormBody(try await BodyReader(maximumBytes: Self.mostFormBytes).read(request, ofAnyType: true))
    }

    /// - Throws: ``Problem`` 403 for a form that no page of this session has sent out.
    func check(_ form: FormBody, _ visitor: Visitor, _ request: Request) throws {
        guard Self.isOwnSite(request), form["token"].map(visitor.token.isFormToken) == true else {
            throw Problem(
                .formNotOurs, "the form is not of this session: go back, load the page again, and send it once more")
        }
    }

    /// What browsers say themselves of where a request comes from, where they say it.
    static func isOwnSite(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite] else { return true }
        return site == "same-origin" || site == "none"
    }

    private static func toSignIn(_ request: Request) -> Response {
        let next = request.method == .get ? "?next=" + request.uri.string.percentEncoded : ""
        return redirect(signInPath + next)
    }

    // MARK: Pages

    func frame(_ title: String, _ visitor: Visitor?, at section: Section? = nil, live: Int? = nil) -> Frame {
        var frame = Frame(title: title, assets: pages.assets)
        if let visitor {
            frame.welcome(
                visitor.session.key.name, role: visitor.roleText, formToken: visitor.token.formToken,
                at: section)
        }
        frame.liveSeconds = live
        frame.renderedAt = store.clock.now.map { ConsoleText.time($0) }
        return frame
    }

    /// What keeps customers from access now. Nil where nothing does.
    func alert(_ visitor: Visitor) async throws -> String? { Diagnosis(try await summary(visitor)).alert }

    /// How things stand with what a visitor may see, without counts by status.
    func summary(_ visitor: Visitor) async throws -> OpsSummary { try await summaries.value(in: visitor.scope) }

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

    /// What went wrong, for whoever it happened to.
    static func problem(_ problem: Problem, _ pages: ConsolePages) -> Response {
        var headers = problem.headers
        for field in Self.headers { headers[field.name] = field.value }
        headers[.wwwAuthenticate] = nil
        let page = ProblemPage(Frame(title: problem.code.title, assets: pages.assets), detail: problem.detail)
        return Response(
            status: problem.status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: pages.render(page))))
    }

    /// Nothing from elsewhere, nothing in line, in nobody's frame, kept by nobody.
    private static let headers: HTTPFields = [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .contentSecurityPolicy:
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff", .referrerPolicy: "same-origin", .crossOriginOpenerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
    ]
}
