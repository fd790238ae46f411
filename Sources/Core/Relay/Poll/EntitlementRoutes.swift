import Formats
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// `GET /entitlements/{id}` and `GET /entitlements?customerEmail=&offerId=`: an app's questions whether a customer has
/// access.
struct EntitlementRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let holder: PollHolder
    let poll: PollInterval
    let inquirer: any CustomerInquirer

    var routes: [Route] { [.get("/entitlements/:id", cached: settled, one), .get("/entitlements", newest)] }

    /// An app's question. It is an object because an asynchronous function keeps every value that it names, and there
    /// may be thousands of held polls. ``KnownValidation`` is one for the same reason.
    private final class Question: Sendable {
        let id: ValidationID
        let key: APIKey
        let customer: AuthorizedCustomer
        let answer: PollAnswer

        init(id: ValidationID, key: APIKey, customer: AuthorizedCustomer, answer: PollAnswer) {
            self.id = id
            self.key = key
            self.customer = customer
            self.answer = answer
        }

        @inline(never)
        func check(_ known: KnownValidation) throws {
            try EntitlementRoutes.check(known, key, customer)
        }

        @inline(never)
        func response(_ known: KnownValidation) -> Response {
            answer.response(known)
        }

        @inline(never)
        func holds(_ known: KnownValidation) -> Bool {
            answer.ifNoneMatch == nil ? known.validation.status == .pending : answer.isUnchanged(known)
        }
    }

    /// Reports another app's validation as unknown, so that an id does not reveal whether it exists.
    private static func check(_ known: KnownValidation, _ key: APIKey, _ customer: AuthorizedCustomer) throws {
        guard known.validation.publisher == key.publisher, known.validation.app == key.app else { throw unknown }
        try customer.check(known.validation.customer)
    }

    private func one(_ request: Request, _ context: FrontContext) async throws -> Response {
        let question = try await question(request, context)
        if AcceptHeader.wantsEventStream(request.headers[.accept]), holder.hasCapacity {
            return stream(try await read(question), question.key, context)
        }
        if let seconds = question.answer.appliedWait {
            let (end, channel) = (ContinuousClock.now + .seconds(seconds), context.channel)
            // The poll is held after this call returns. Otherwise each of ten thousand polls would keep this call's
            // memory.
            context.notes.answer { try await hold(question, until: end, channel) }
            return Response(status: .noContent)
        }
        return question.response(try await read(question))
    }

    /// Answers a plain poll of a validation that is cached as settled.
    private func settled(_ head: HTTPRequest, _ path: String) -> CachedAnswer? {
        let headers = head.headerFields
        guard let id = ValidationID(path.droppingBytes(first: "/entitlements/".utf8.count)), headers[.prefer] == nil,
            !AcceptHeader.wantsEventStream(headers[.accept]), let key = authenticator.known(headers, opening: .app),
            let customer = authenticator.knownCustomer(headers), let known = store.purchases.settled(id),
            (try? Self.check(known, key, customer)) != nil
        else { return nil }
        let (response, body) = PollAnswer(poll: poll, ifNoneMatch: headers[.ifNoneMatch]).parts(known)
        return CachedAnswer(response: response, body: body, caller: key.id.text, subject: .validation(id))
    }

    private func question(_ request: Request, _ context: FrontContext) async throws -> Question {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }) else { throw Self.unknown }
        context.notes.subject = .validation(id)
        var answer = PollAnswer(poll: poll, ifNoneMatch: request.headers[.ifNoneMatch])
        if let seconds = PreferWait.parse(request.headers[.prefer]), seconds > 0, holder.hasCapacity {
            answer.appliedWait = seconds
        }
        return Question(id: id, key: key, customer: customer, answer: answer)
    }

    private func hold(
        _ question: Question, until end: ContinuousClock.Instant, _ channel: any Channel
    ) async throws -> Response {
        // Registers before reading, so that no change is missed between the two.
        let held = try await HeldPoll(store.memory.changes.register(question.id, key: question.key.id), on: channel)
        defer { held.end() }
        switch try await read(toHold: question) {
        case .answer(let response): return response
        case .wait(let known):
            switch try await holder.wait(held, known: known, until: end) {
            case .changed(let latest), .shutdown(let latest): return question.response(latest)
            // It was pending when it was last read. Only a new read may answer that it still is.
            case .unchanged: return question.response(try await read(question))
            case .revoked: throw Authenticator.unknownKey
            }
        }
    }

    private enum FirstLook {
        case answer(Response)
        case wait(PollHolder.Known)
    }

    @inline(never)
    private func read(toHold question: Question) async throws -> FirstLook {
        guard let known = try await store.purchases.awaited(question.id) else { throw Self.unknown }
        try question.check(known)
        return question.holds(known) ? .wait(PollHolder.Known(known)) : .answer(question.response(known))
    }

    private func stream(_ known: KnownValidation, _ key: APIKey, _ context: FrontContext) -> Response {
        Response(
            status: .ok,
            // The last field keeps nginx from buffering the stream.
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store",
                HTTPField.Name("X-Accel-Buffering")!: "no",
            ],
            body: EventStream(holder: holder, poll: poll, channel: context.channel, key: key.id).body(of: known))
    }

    private func newest(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        let query = QueryItems(request.uri.query)
        var reader = FieldReader(query, ["customerEmail", "offerId"])
        let email = reader.email("customerEmail")
        // Without `offerId` the answer lists every offer. An empty `offerId` is refused, since an offer was meant.
        let offer = query.holds("offerId") ? reader.offerID("offerId") : nil
        guard reader.errors.isEmpty, let email else { throw Problem.invalidFields(reader.errors) }
        try customer.check(email.customer)
        if CacheControl.forbidsCache(request.headers[.cacheControl]) {
            // The outcome does not matter: the answer is the stored state in every case.
            _ = try await inquirer.ask(about: email, offer: offer, of: key.publisher, patience: .zero)
        }
        guard let offer else { return try await all(of: email, publisher: key.publisher) }
        let known = try await store.subscriptions.entitlement(
            of: email.customer, to: offer, publisher: key.publisher)
        guard let known else { return Self.nothingKnown }
        context.notes.subject = .validation(known.id)
        return PollAnswer(poll: poll, ifNoneMatch: request.headers[.ifNoneMatch])
            .response(KnownValidation(known))
    }

    /// Answers with every known offer of a customer.
    private func all(of email: CustomerEmail, publisher: PublisherID) async throws -> Response {
        let known = try await store.subscriptions.entitlements(of: email.customer, publisher: publisher)
        var writer = JSONWriter(capacity: 128 + 384 * known.count)
        writer.beginObject()
        writer.field("customerEmail", email.customer)
        writer.entitlements(known)
        writer.endObject()
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: writer.buffer))
    }

    @inline(never)
    private func read(_ question: Question) async throws -> KnownValidation {
        guard let known = try await store.purchases.polled(question.id) else { throw Self.unknown }
        try question.check(known)
        return known
    }

    fileprivate static var unknown: Problem { Problem(.unknownValidation, "nothing is known by this id") }

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
