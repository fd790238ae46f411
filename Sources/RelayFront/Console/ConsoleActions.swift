import ConsolePages
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// Asks whether it is meant, and does it.
struct ConsoleActions: Sendable {
    let actions: OpsActions

    func confirm(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext,
        _ visitor: ConsoleDesk.Visitor
    ) throws -> Response {
        guard visitor.isOperator else {
            throw Problem(.wrongRole, "this takes a key of the role \(KeyRole.opsOperator.name)")
        }
        return desk.response(page(action, desk, try id(context), visitor))
    }

    /// Whatever cannot be done is said on the page that asked.
    func act(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ form: FormBody, _ context: FrontContext,
        _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let id = try id(context)
        guard let reason = Self.reason(form["reason"]) else {
            return desk.response(
                page(action, desk, id, visitor, reason: form["reason"] ?? "", error: Self.wantsReason),
                status: .unprocessableContent)
        }
        do {
            try await perform(action, desk, id, visitor, reason)
        } catch let problem as Problem where problem.status.kind == .clientError {
            return desk.response(
                page(action, desk, id, visitor, reason: reason, error: "\(problem.code.title): \(problem.detail)."),
                status: problem.status)
        }
        let page = action.page(id)
        return ConsoleDesk.redirect(page + (page.contains("?") ? "&" : "?") + "done=\(action.rawValue)")
    }

    static let wantsReason = "Say why, in at most \(OperatorReason.maximumLength) characters."

    /// Nil for what is none.
    static func reason(_ text: String?) -> String? {
        let reason = text?.trimmingSpace() ?? ""
        let isOne =
            !reason.isEmpty && reason.unicodeScalars.count <= OperatorReason.maximumLength && !reason.utf8.contains(0)
        return isOne ? reason : nil
    }

    /// - Throws: ``Problem``.
    func perform(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ id: String, _ visitor: ConsoleDesk.Visitor, _ reason: String
    ) async throws {
        let (store, scope, actor) = (desk.store, visitor.scope, visitor.actor)
        do {
            switch action {
            case .retry: try await store.retry(try validation(id), in: scope, by: actor, reason: reason)
            case .abandon: try await store.abandon(try validation(id), in: scope, by: actor, reason: reason)
            case .replayNotification:
                guard let id = NotificationID(id) else { throw Self.unknown }
                try await actions.replayNotification(id, in: scope, by: actor, reason: reason)
            case .replayWebhook:
                guard let id = DeliveryID(id) else { throw Self.unknown }
                _ = try await actions.replayWebhook(id, in: scope, by: actor, reason: reason)
            case .replayEvent:
                guard let event = NotificationID(id),
                    try await store.replayEvent(event, in: scope, by: actor, reason: reason)
                else { throw Self.unknown }
            case .replaySubscription:
                guard let subscription = SubscriptionCursor(id),
                    try await store.replaySubscription(subscription.name, in: scope, by: actor, reason: reason)
                else { throw Self.unknown }
            case .enableEndpoint:
                guard let endpoint = EndpointID(id),
                    let publisher = try await store.enableEndpoint(endpoint, in: scope)
                else { throw Self.unknown }
                try await store.audit(
                    AuditEntry(actor: actor, .endpointEnabled, id, of: publisher, reason: reason))
            case .resync:
                guard let target = ResyncTarget(id) else { throw Self.unknown }
                try await actions.resync(
                    publisher: target.publisher, username: target.username, in: scope, by: actor,
                    reason: reason)
            case .refresh:
                guard let target = ResyncTarget(id), let customer = CustomerEmail(target.username.text) else {
                    throw Self.unknown
                }
                let asked = try await actions.refresh(
                    customer, of: target.publisher, in: scope, by: actor, reason: reason)
                if let problem = Self.problem(asked.outcome) { throw problem }
            case .revokeKey:
                guard let publisher = try await store.revokeKey(APIKeyID(id), in: scope) else { throw Self.unknown }
                try await store.audit(AuditEntry(actor: actor, .keyRevoked, id, of: publisher, reason: reason))
            }
        } catch let refusal as OpsRefusal {
            throw ValidationActionRoutes.problem(refusal)
        }
    }

    /// Nil where Cleeng has answered.
    private static func problem(_ outcome: CustomerInquiryOutcome) -> Problem? {
        switch outcome {
        case .asked: nil
        case .pending: Problem(.busy, "a purchase of theirs is pending, and Cleeng is asked about it every few seconds")
        case .tooSoon: Problem(.busy, "the customer was read a moment ago: try again in five seconds")
        case .away: Problem(.busy, "Cleeng cannot be asked now: the overview says how it does")
        }
    }

    private func page(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ id: String, _ visitor: ConsoleDesk.Visitor,
        reason: String = "", error: String? = nil
    ) -> ConfirmPage {
        let target: String? =
            switch action {
            case .resync, .refresh: ResyncTarget(id).map { "\($0.username) of \($0.publisher)" }
            case .replaySubscription: SubscriptionCursor(id).map { $0.name.originalTransactionID.text }
            default: nil
            }
        return ConfirmPage(
            desk.frame(action.title, visitor, at: action.section), consequence: action.consequence,
            target: target ?? id, button: action.button, isGrave: action.isGrave, action: action.path(id),
            back: action.page(id), reason: reason, error: error)
    }

    /// Of what is written in hexadecimal and the like, so that it may stand in an address again.
    private func id(_ context: FrontContext) throws -> String {
        guard let id = context.parameters.get("id"), Self.isID(id) else { throw Self.unknown }
        return id
    }

    static func isID(_ text: String) -> Bool {
        (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy { ConsoleLink.isPlain($0) }
    }

    private func validation(_ id: String) throws -> ValidationID {
        guard let id = ValidationID(id) else { throw Self.unknown }
        return id
    }

    private static var unknown: Problem { Problem(.notFound, "nothing is known by this id") }
}
