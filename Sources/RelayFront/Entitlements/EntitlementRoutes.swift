import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /entitlements/{id}` and `GET /entitlements?customerEmail=&offerId=`: what an app may reveal.
struct EntitlementRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let holder: PollHolder
    let poll: PollInterval

    var routes: [Route] { [.get("/entitlements/:id", one), .get("/entitlements", newest)] }

    private func one(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }) else { throw Self.unknown }
        context.notes.validation = id
        var answer = PollAnswer(poll: poll, ifNoneMatch: request.headers[.ifNoneMatch])
        if AcceptHeader.wantsEventStream(request.headers[.accept]), holder.hasRoom {
            return stream(try await read(id, key, customer), context)
        }
        guard let seconds = PreferWait.parse(request.headers[.prefer]), seconds > 0, holder.hasRoom else {
            return answer.response(try await read(id, key, customer))
        }
        answer.appliedWait = seconds
        let end = ContinuousClock.now + .seconds(seconds)
        // Registered before it is read: no change can fall between the two.
        let held = try await HeldPoll(store.changes.register(id), on: context.channel)
        defer { held.end() }
        let validation = try await read(id, key, customer)
        let holds = answer.ifNoneMatch == nil ? validation.status == .pending : answer.isUnchanged(validation)
        guard holds else { return answer.response(validation) }
        switch try await holder.wait(held, known: validation, until: end) {
        case .changed(let latest), .shutdown(let latest): return answer.response(latest)
        // Long ago it was pending: only a reading of now may still say so.
        case .unchanged: return answer.response(try await read(id, key, customer))
        }
    }

    private func stream(_ validation: Validation, _ context: FrontContext) -> Response {
        Response(
            status: .ok,
            // The last one keeps nginx from collecting the stream before it passes it on.
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store",
                HTTPField.Name("X-Accel-Buffering")!: "no",
            ],
            body: EventStream(holder: holder, poll: poll, channel: context.channel).body(of: validation))
    }

    private func newest(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        let query = QueryItems(request.uri.query)
        var reader = FieldReader()
        func field(_ name: String) -> JSONField { query[name].map { .string($0) } ?? .absent }
        let email = reader.required(field("customerEmail"), "customerEmail").flatMap {
            reader.email($0, "customerEmail")
        }
        let offer = reader.required(field("offerId"), "offerId").flatMap { reader.offerID($0, "offerId") }
        guard let email, let offer else { throw Problem.invalidFields(reader.errors) }
        try customer.check(email.customer)
        let validation = try await store.validation(
            customer: email.customer, offerID: offer, publisher: key.publisher, app: key.app)
        guard let validation else { return Self.nothingKnown }
        context.notes.validation = validation.id
        return PollAnswer(poll: poll, ifNoneMatch: request.headers[.ifNoneMatch]).response(validation)
    }

    private func read(_ id: ValidationID, _ key: APIKey, _ customer: AuthorizedCustomer) async throws -> Validation {
        // Another's is as unknown as none: an id tells nobody that it exists.
        guard let validation = try await store.validation(id), validation.publisher == key.publisher,
            validation.app == key.app
        else { throw Self.unknown }
        try customer.check(validation.customer)
        return validation
    }

    private static var unknown: Problem { Problem(.unknownValidation, "nothing is known by this id") }

    private static var nothingKnown: Response {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.field("status", "unknown")
        writer.field("accessGranted", false)
        writer.endObject()
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: writer.buffer))
    }
}
