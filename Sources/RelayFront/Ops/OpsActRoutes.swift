import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import RelayCore
import RelayStore

/// `POST /ops/…`: what operators do.
struct OpsActRoutes: Sendable {
    let tools: OpsTools
    let authenticator: Authenticator
    let bodies: BodyReader

    private var operations: Operations { tools.operations }
    private var store: RelayStore { tools.operations.store }

    var routes: [Route] {
        [
            .post("/ops/validations/:id/retry") { try await act($0, $1) { .retry($0) } },
            .post("/ops/validations/:id/abandon") { try await act($0, $1) { .abandon($0) } },
            .post("/ops/validations/replay", replayRange),
            .post("/ops/notifications/:id/replay", replayNotification),
            .post("/ops/webhooks/:id/replay", replayMessage),
            .post("/ops/events/:id/replay") { request, context in
                try await replay(request, context, .event) { NotificationID($0).map { .replay(event: $0) } }
            },
            .post("/ops/subscriptions/:id/replay") { request, context in
                try await replay(request, context, .subscription) {
                    SubscriptionCursor($0).map { .replay(subscription: $0.name) }
                }
            },
            .post("/ops/customers/:email/refresh", refresh),
        ]
    }

    private func act(
        _ request: Request, _ context: FrontContext, _ make: (ValidationID) -> Act<Void>
    ) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let reason = try OperatorReason.parse(try await bodies.read(request))
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }) else { throw OpsRefusal.unknown }
        context.notes.validation = id
        try await operations.perform(make(id), by: Actor(key), reason: reason)
        var writer = JSONWriter(capacity: 384)
        if let validation = try await store.validation(id, in: key.opsScope) {
            writer.value(validation)
        } else {
            // Abandoned was a pursuit whose validation was gone before.
            writer.beginObject()
            writer.field("validationId", id.description)
            writer.endObject()
        }
        return .json(writer, status: .accepted)
    }

    private func replayRange(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let body = try ReplayBody(try await bodies.read(request))
        let page = try await operations.perform(
            .replay(body.filter, isDryRun: body.isDryRun), by: Actor(key), reason: body.reason)
        var writer = JSONWriter(capacity: 256 + page.refused.count * 96)
        writer.beginObject()
        writer.field("matched", page.matched.count)
        writer.field("replayed", page.replayed.count)
        writer.beginArray("refused")
        for (id, why) in page.refused {
            writer.beginObject()
            writer.field("validationId", id.description)
            writer.field("code", why.code)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", page.next?.description)
        writer.endObject()
        return .json(writer, status: body.isDryRun ? .ok : .accepted)
    }

    private func replay(
        _ request: Request, _ context: FrontContext, _ subject: ActRefusal.Subject, _ make: (String) -> Act<Void>?
    ) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        guard let text = context.parameters.get("id"), let act = make(text) else { throw ActRefusal.unknown(subject) }
        try await operations.perform(act, by: Actor(key))
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("id", text)
        writer.endObject()
        return .json(writer, status: .accepted)
    }

    private func replayNotification(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }) else {
            throw ActRefusal.unknown(.notification)
        }
        try await operations.perform(.replay(notification: id, tools.notifications), by: Actor(key))
        guard let item = try await store.notification(id, in: key.opsScope)?.0 else {
            throw ActRefusal.unknown(.notification)
        }
        var writer = JSONWriter(capacity: 512)
        writer.value(item)
        return .json(writer, status: .accepted)
    }

    private func replayMessage(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        // A `webhook-id` may have the mark of a changed password behind it.
        guard let text = context.parameters.get("id")?.parts(at: ".", maxSplits: 1).first, let id = DeliveryID(text)
        else { throw ActRefusal.unknown(.message) }
        let new = try await operations.perform(.replay(message: id, leeway: tools.leeway), by: Actor(key))
        guard let message = try await store.delivery(new, in: key.opsScope) else { throw ActRefusal.unknown(.message) }
        var writer = JSONWriter(capacity: 512)
        writer.value(message)
        return .json(writer, status: .accepted)
    }

    private func refresh(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let (reason, publisher) = try Self.parse(try await bodies.read(request))
        guard let text = context.parameters.get("email").map(CustomerPath.decoded), let customer = CustomerEmail(text)
        else { throw Problem(.notFound, "no customer goes by this email") }
        let asked = try await operations.perform(tools.refresh(customer, of: publisher), by: Actor(key), reason: reason)
        let known = try await store.entitlements(of: customer.customer, publisher: asked.publisher)
        var writer = JSONWriter(capacity: 256 + 384 * known.count)
        writer.beginObject()
        writer.field("customerEmail", customer.customer)
        writer.field("publisher", asked.publisher)
        writer.field("outcome", asked.outcome.rawValue)
        writer.entitlements(known)
        writer.endObject()
        return .json(writer)
    }

    /// `{"reason":"…","publisher":"…"}`; the publisher may be missing.
    private static func parse(_ bytes: ByteBuffer) throws -> (reason: String, publisher: PublisherID?) {
        let fields = try OpsFields(bytes)
        var reader = FieldReader()
        let why = OperatorReason.judge(fields["reason"].asText, &reader)
        let named = reader.optional(fields["publisher"].asText, "publisher").map { PublisherID($0) }
        guard reader.errors.isEmpty, let why else { throw Problem.invalidFields(reader.errors) }
        return (why, named)
    }
}

/// What acts of the console and the ops API take besides their ids.
struct OpsTools: Sendable {
    let operations: Operations
    let notifications: NotificationReader
    /// How long after its end a subscription that will renew is waited for.
    let leeway: Duration
    let inquirer: any CustomerInquirer

    /// Whoever asks by hand waits for the customer's turn.
    func refresh(_ customer: CustomerEmail, of publisher: PublisherID?) -> LongAct<RefreshedCustomer> {
        .refresh(customer, of: publisher, inquirer, patience: .seconds(6))
    }
}

extension ReplayPage.Refusal {
    /// As the answer to a single retry would have it.
    fileprivate var code: String {
        switch self {
        case .refused(let refusal): Problem(refusal).code.rawValue
        case .unreadable: ProblemCode.internalError.rawValue
        }
    }
}
