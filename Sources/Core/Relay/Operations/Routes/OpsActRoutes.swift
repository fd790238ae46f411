import Formats
import HTTPServer
import Hummingbird
import NIOCore
package import RelayCore
import StoreSignals

/// Routes `POST /ops/…`: operators' actions.
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
            .post("/ops/notifications/test", testNotification),
            .post("/ops/notifications/:id/replay", replayNotification),
            .post("/ops/notifications/:id/confirm", confirm),
            .post("/ops/webhooks/:id/replay", replayMessage),
            .post("/ops/events/:id/replay") { request, context in
                try await replay(request, context, .event) { NotificationID($0).map { .replay(event: $0) } }
            },
            .post("/ops/subscriptions/:id/replay") { request, context in
                try await replay(request, context, .subscription) {
                    SubscriptionCursor($0).map { .replay(subscription: $0.name) }
                }
            },
            .post("/ops/subscriptions/:id/refunds", refunds),
            .post("/ops/customers/:email/refresh", refresh),
        ]
    }

    private func act(
        _ request: Request, _ context: FrontContext, _ make: (ValidationID) -> Act<Void>
    ) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let reason = try OperatorReason.parse(try await bodies.read(request))
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }) else { throw OpsRefusal.unknown }
        context.notes.subject = .validation(id)
        try await operations.perform(make(id), by: Actor(key), reason: reason)
        let validation = try await store.purchases.validation(id, in: key.opsScope)
        return .json(.accepted) { writer in
            if let validation { return writer.value(validation) }
            // The abandoned pursuit's validation was deleted before.
            writer.beginObject()
            writer.field("validationId", id.description)
            writer.endObject()
        }
    }

    private func replayRange(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let body = try ReplayBody(try await bodies.read(request))
        let page = try await operations.perform(
            .replay(body.filter, isDryRun: body.isDryRun), by: Actor(key), reason: body.reason)
        return .json(body.isDryRun ? .ok : .accepted, capacity: 256 + page.refused.count * 96) { writer in
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
        }
    }

    private func replay(
        _ request: Request, _ context: FrontContext, _ subject: ActRefusal.Subject, _ make: (String) -> Act<Void>?
    ) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        guard let text = context.parameters.get("id"), let act = make(text) else { throw ActRefusal.unknown(subject) }
        try await operations.perform(act, by: Actor(key))
        return .json(.accepted) { writer in
            writer.beginObject()
            writer.field("id", text)
            writer.endObject()
        }
    }

    private func replayNotification(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }) else {
            throw ActRefusal.unknown(.notification)
        }
        try await operations.perform(.replay(notification: id, tools.notifications), by: Actor(key))
        guard let item = try await store.ops.notification(id, in: key.opsScope)?.0 else {
            throw ActRefusal.unknown(.notification)
        }
        return .json(.accepted) { $0.value(item) }
    }

    private func confirm(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let reason = try OperatorReason.parse(try await bodies.read(request))
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }) else {
            throw ActRefusal.unknown(.notification)
        }
        try await operations.perform(.confirm(notification: id, tools.topics), by: Actor(key), reason: reason).check()
        guard let item = try await store.ops.notification(id, in: key.opsScope)?.0 else {
            throw ActRefusal.unknown(.notification)
        }
        return .json(.accepted) { $0.value(item) }
    }

    /// Body: `{"reason":"…","environment":"Sandbox","bundleId":"…"}`. The app may be omitted if there is only one.
    private func testNotification(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        var reader = try FieldReader(act: try await bodies.read(request), ["reason", "environment", "bundleId"])
        let reason = OperatorReason.judge(&reader)
        let environment = reader.required("environment").flatMap { text -> StoreEnvironment? in
            ["Production", "Sandbox"].contains(text)
                ? StoreEnvironment(text) : reader.refuse("environment", "must be one of Production, Sandbox")
        }
        let app = reader.optional("bundleId").map { BundleID($0) }
        guard reader.errors.isEmpty, let reason, let environment else { throw Problem.invalidFields(reader.errors) }
        let tested = try await operations.perform(
            .testNotification(of: app, in: environment, tools.appStore), by: Actor(key), reason: reason)
        return .json { $0.value(tested) }
    }

    private func refunds(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let reason = try OperatorReason.parse(try await bodies.read(request))
        guard let name = context.parameters.get("id").flatMap({ SubscriptionCursor($0)?.name }) else {
            throw ActRefusal.unknown(.subscription)
        }
        let lookup = try await operations.perform(
            .refunds(of: name, tools.appStore), by: Actor(key), reason: reason)
        return .json { $0.value(lookup) }
    }

    private func replayMessage(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        // A `webhook-id` may end with the mark of a changed password.
        guard let text = context.parameters.get("id")?.parts(at: ".", maxSplits: 1).first, let id = DeliveryID(text)
        else { throw ActRefusal.unknown(.message) }
        let new = try await operations.perform(.replay(message: id), by: Actor(key))
        guard let message = try await store.webhooks.delivery(new, in: key.opsScope) else {
            throw ActRefusal.unknown(.message)
        }
        return .json(.accepted) { $0.value(message) }
    }

    private func refresh(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let (reason, publisher) = try Self.parse(try await bodies.read(request))
        guard let text = context.parameters.get("email").map(\.percentDecoded), let customer = CustomerEmail(text)
        else { throw Problem(.notFound, "no customer goes by this email") }
        let asked = try await operations.perform(tools.refresh(customer, of: publisher), by: Actor(key), reason: reason)
        let known = try await store.subscriptions.entitlements(
            of: customer.customer, publisher: asked.publisher)
        return .json(capacity: 256 + 384 * known.count) { writer in
            writer.beginObject()
            writer.field("customerEmail", customer.customer)
            writer.field("publisher", asked.publisher)
            writer.field("outcome", asked.outcome.rawValue)
            writer.entitlements(known)
            writer.endObject()
        }
    }

    /// Body: `{"reason":"…","publisher":"…"}`. The publisher may be omitted.
    private static func parse(_ bytes: ByteBuffer) throws -> (reason: String, publisher: PublisherID?) {
        var reader = try FieldReader(act: bytes, ["reason", "publisher"])
        let why = OperatorReason.judge(&reader)
        let named = reader.optional("publisher").map { PublisherID($0) }
        guard reader.errors.isEmpty, let why else { throw Problem.invalidFields(reader.errors) }
        return (why, named)
    }
}

/// Dependencies of operators' actions in the console and the ops API.
package struct OpsTools: Sendable {
    package let operations: Operations
    package let notifications: NotificationReader
    package let topics: TopicConfirmer
    /// Nil: there is no key for the App Store Server API.
    package let appStore: AppStoreAccess?
    /// Asks Cleeng about a customer at once.
    let inquirer: any CustomerInquirer

    /// Asks Cleeng about a customer. An operator's question waits for the customer's turn.
    package func refresh(_ customer: CustomerEmail, of publisher: PublisherID?) -> LongAct<RefreshedCustomer> {
        .refresh(customer, of: publisher, inquirer, patience: .seconds(6))
    }
}

extension TopicConfirmation {
    /// - Throws: ``Problem`` if the subscription is not confirmed.
    package func check() throws {
        switch self {
        case .confirmed: return
        case .refused(let why):
            throw Problem(.stateNotAllowed, "SNS refuses it (\(why)): subscribe the endpoint to the topic again")
        case .away(let why): throw Problem(.storeUnavailable, "SNS cannot be asked now: \(why)")
        }
    }
}

extension ReplayPage.Refusal {
    /// Code that the answer to a single retry would have.
    fileprivate var code: String {
        switch self {
        case .refused(let refusal): Problem(refusal).code.rawValue
        case .unreadable: ProblemCode.internalError.rawValue
        }
    }
}
