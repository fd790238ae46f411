import ConsolePages
import HTTPTypes
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// Asks whether it is meant, and does it.
struct ConsoleActions: Sendable {
    let tools: OpsTools

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
            try await action.perform(id, tools, by: visitor.actor, reason: reason)
        } catch {
            let problem = Problem(describing: error)
            guard problem.status.kind == .clientError else { throw error }
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
        let form = action.form
        return ConfirmPage(
            desk.frame(form.title, visitor, at: form.section), consequence: form.consequence, target: target ?? id,
            button: form.button, isGrave: form.isGrave, action: action.path(id), back: action.page(id), reason: reason,
            error: error)
    }

    /// Of what is written in hexadecimal and the like, so that it may stand in an address again.
    private func id(_ context: FrontContext) throws -> String {
        guard let id = context.parameters.get("id"), Self.isID(id) else {
            throw Problem(.notFound, "nothing is known by this id")
        }
        return id
    }

    static func isID(_ text: String) -> Bool {
        (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy { ConsoleLink.isPlain($0) }
    }
}
