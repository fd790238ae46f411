import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Asks the operator for confirmation, and performs actions.
struct ConsoleActions: Sendable {
    let tools: OpsTools

    func confirm(_ action: ConsoleAction, _ visit: ConsoleVisit) throws -> Response {
        try visit.checkOperator()
        return visit.response(page(action, try id(visit), visit))
    }

    /// Performs an action. Every error appears on the confirmation page.
    func act(_ action: ConsoleAction, _ visit: ConsoleVisit, _ form: FormBody) async throws -> Response {
        let id = try id(visit)
        guard let reason = Self.reason(form["reason"]) else {
            return visit.response(
                page(action, id, visit, reason: form["reason"] ?? "", error: Self.wantsReason),
                status: .unprocessableContent)
        }
        do {
            try await action.perform(id, tools, by: visit.actor, reason: reason)
        } catch {
            let problem = Problem(describing: error)
            guard problem.status.kind == .clientError else { throw error }
            return visit.response(
                page(action, id, visit, reason: reason, error: "\(problem.code.title): \(problem.detail)."),
                status: problem.status)
        }
        let page = action.page(id)
        return ConsoleContext.redirect(page + (page.contains("?") ? "&" : "?") + "done=\(action.rawValue)")
    }

    static let wantsReason = "Say why, in at most \(OperatorReason.maximumLength) characters."

    /// The reason for the audit log; nil if it is empty, too long or contains NUL.
    static func reason(_ text: String?) -> String? {
        let reason = text?.trimmingSpace() ?? ""
        let isLong = reason.unicodeScalars.count > OperatorReason.maximumLength
        return reason.isEmpty || isLong || reason.utf8.contains(0) ? nil : reason
    }

    private func page(
        _ action: ConsoleAction, _ id: String, _ visit: ConsoleVisit, reason: String = "", error: String? = nil
    ) -> ConfirmPage {
        let target: String? =
            switch action {
            case .resync, .refresh: ResyncTarget(id).map { "\($0.username) of \($0.publisher)" }
            case .replaySubscription, .lookUpRefunds: SubscriptionCursor(id).map { $0.name.originalTransactionID.text }
            default: nil
            }
        let form = action.form
        return ConfirmPage(
            visit.frame(form.title, at: form.section), consequence: form.consequence, target: target ?? id,
            button: form.button, isGrave: form.isGrave, action: action.path(id), back: action.page(id), reason: reason,
            error: error)
    }

    /// Reads an id of hexadecimal digits and the like, which needs no escaping in a URL.
    private func id(_ visit: ConsoleVisit) throws -> String {
        guard let id = visit.context.parameters.get("id"), Self.isID(id) else {
            throw Problem(.notFound, "nothing is known by this id")
        }
        return id
    }

    static func isID(_ text: String) -> Bool {
        (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfID)
    }
}
