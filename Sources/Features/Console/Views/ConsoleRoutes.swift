import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Routes `/` and `/console/…` of the ops port: the console's pages and forms.
struct ConsoleRoutes: Sendable {
    let console: ConsoleContext
    let features: [OpsPage]
    /// Performs the actions, which need more than the database.
    let actions: ConsoleActions

    var routes: [Route] {
        [.get("/console/assets/:version/:name", asset)] + signing + [
            console.page("/", OverviewView.show), console.page("/console/search", SearchView.show),
            console.page("/console/validations", ValidationViews.list),
            console.page("/console/waiting", ValidationViews.waiting),
            console.page("/console/parked", ValidationViews.parked),
            console.page("/console/validations/:id", ValidationViews.detail),
            console.page("/console/customers", CustomerView.show),
            console.page("/console/subscriptions", SubscriptionViews.list),
            console.page("/console/transfers", SubscriptionViews.transfers.show),
            console.page("/console/notifications", DeliveryViews.notifications.show),
            console.page("/console/consumption", DeliveryViews.consumption.show),
            console.page("/console/webhooks", DeliveryViews.webhooks),
            console.page("/console/endpoints", DeliveryViews.endpoints),
            console.page("/console/events", DeliveryViews.events.show),
            console.page("/console/offers", OfferView.show),
            console.page("/console/keys", RecordViews.keys),
            console.page("/console/audit", RecordViews.audit.show),
        ]
            + features.map { page in console.page(Section(page).path) { try await FeatureView.show(page, $0) } }
            + [
                console.page(ConsoleSelection.path, selection.confirm),
                console.action(ConsoleSelection.path, selection.act),
            ]
            + ConsoleAction.allCases.flatMap { action in
                [
                    console.page(action.route) { try actions.confirm(action, $0) },
                    console.action(action.route) { try await actions.act(action, $0, $1) },
                ]
            }
    }

    private var selection: ConsoleSelection { ConsoleSelection(actions: actions) }

    // MARK: Assets

    /// Serves an asset. Its name contains the version, so it may be cached for ever. Another version's name gets this
    /// version's asset: a page may come from an older copy.
    private func asset(_ request: Request, _ context: FrontContext) async throws -> Response {
        guard let name = context.parameters.get("name"), let asset = console.pages.assets[name] else {
            throw Problem(.notFound, "nothing has this address")
        }
        let isOwn = context.parameters.get("version") == console.pages.assets.version
        return Response(
            status: .ok,
            headers: [
                .contentType: asset.type, .xContentTypeOptions: "nosniff",
                .cacheControl: isOwn ? "public, max-age=31536000, immutable" : "no-store",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    // MARK: Signing in and out

    private var signing: [Route] {
        [
            .get(ConsoleContext.signInPath) { request, _ in
                let next = QueryItems(request.uri.query)["next"].flatMap(Self.local)
                return console.response(SignInPage(console.frame("Sign in"), next: next))
            },
            .post(ConsoleContext.signInPath, signIn), .post("/console/sign-out", signOut),
        ]
    }

    private func signIn(_ request: Request, _ context: FrontContext) async throws -> Response {
        guard ConsoleContext.isOwnSite(request) else {
            throw Problem(.formNotOurs, "the form came from another site")
        }
        let form = try await console.form(request)
        let next = form["next"].flatMap(Self.local)
        guard let text = form["key"], let key = try await console.keys.authenticate(Substring(text)) else {
            return refuse(next, "This key was never made, or has been revoked.", .unauthorized)
        }
        context.notes.caller = key.id.text
        guard key.role.opens(.opsViewer) else {
            return refuse(
                next, "This key has the role \(key.role.name): the console takes ops-viewer and ops-operator.",
                .forbidden)
        }
        var generator = SystemRandomNumberGenerator()
        let token = ConsoleSession.Token(using: &generator)
        try await console.store.sessions.begin(token, key: key, for: SessionCookie.lifetime)
        let cookie = SessionCookie.set(token, isSecure: SessionCookie.isSecure(request.headers))
        return ConsoleContext.redirect(next ?? "/", cookie: cookie)
    }

    private func refuse(_ next: String?, _ error: String, _ status: HTTPResponse.Status) -> Response {
        console.response(SignInPage(console.frame("Sign in"), next: next, error: error), status: status)
    }

    private func signOut(_ request: Request, _ context: FrontContext) async throws -> Response {
        if let visit = try await console.visit(request, context) { try await end(visit) }
        let cookie = SessionCookie.clear(isSecure: SessionCookie.isSecure(request.headers))
        return ConsoleContext.redirect(ConsoleContext.signInPath, cookie: cookie)
    }

    // A separate function: Swift 6.3.1 crashes when it optimizes this inside the caller.
    private func end(_ visit: ConsoleVisit) async throws {
        try visit.check(try await console.form(visit.request))
        try await console.store.sessions.end(visit.token, key: visit.session.key)
    }

    /// Nil if the address leads away from the console.
    private static func local(_ path: String) -> String? {
        let isPage = path == "/" || path.hasBytes(first: "/console/") || path.hasBytes(first: "/?")
        return isPage && !path.utf8.contains { $0 < 0x21 || $0 == UInt8(ascii: "\\") } ? path : nil
    }
}
