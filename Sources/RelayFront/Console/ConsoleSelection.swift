import ConsolePages
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// One action on several rows: asked for once, with one reason, and done and written down row by row.
struct ConsoleSelection: Sendable {
    static let path = "/console/selected"
    /// Of one page.
    static let most = 50

    let actions: ConsoleActions

    /// What lists offer.
    static func picks(_ offered: [ConsoleAction], _ visitor: ConsoleDesk.Visitor) -> ListPage.Picks? {
        guard visitor.isOperator else { return nil }
        return ListPage.Picks(
            target: path, buttons: offered.map { .init($0.rawValue, $0.form.button, isGrave: $0.form.isGrave) })
    }

    func confirm(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) throws -> Response {
        guard visitor.isOperator else {
            throw Problem(.wrongRole, "this takes a key of the role \(KeyRole.opsOperator.name)")
        }
        let query = QueryItems(request.uri.query)
        return desk.response(
            page(try action(query["action"]), desk, try Self.ids(query.all("id", most: Self.most + 1)), visitor))
    }

    func act(
        _ desk: ConsoleDesk, _ form: FormBody, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        let action = try action(form["action"])
        let ids = try Self.ids(
            (form["ids"] ?? "").utf8.split(separator: UInt8(ascii: ","), maxSplits: Self.most).map {
                String(Substring($0))
            })
        guard let reason = ConsoleActions.reason(form["reason"]) else {
            return desk.response(
                page(action, desk, ids, visitor, error: ConsoleActions.wantsReason), status: .unprocessableContent)
        }
        var outcomes: [(id: String, error: String?)] = []
        var trouble: String?
        for id in ids {
            if let trouble {
                outcomes.append((id, "not tried: \(trouble)"))
                continue
            }
            do {
                try await action.perform(id, actions.tools, by: visitor.actor, reason: reason)
                outcomes.append((id, nil))
            } catch {
                let problem = Problem(describing: error)
                outcomes.append((id, "\(problem.code.title): \(problem.detail)"))
                // Whatever ails the service ails the next one, too.
                if problem.status.kind == .serverError { trouble = problem.code.title }
            }
        }
        return desk.response(results(action, desk, outcomes, visitor))
    }

    private func page(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ ids: [String], _ visitor: ConsoleDesk.Visitor,
        error: String? = nil
    ) -> ConfirmPage {
        let form = action.form
        return ConfirmPage(
            desk.frame("\(form.title): \(ids.count) selected", visitor, at: form.section),
            consequence: "Of each: \(form.consequence)", target: ids.joined(separator: ", "),
            button: "\(form.button) \(ids.count)", isGrave: form.isGrave, action: Self.path,
            back: form.section.path, error: error,
            hidden: [("action", action.rawValue), ("ids", ids.joined(separator: ","))])
    }

    private func results(
        _ action: ConsoleAction, _ desk: ConsoleDesk, _ outcomes: [(id: String, error: String?)],
        _ visitor: ConsoleDesk.Visitor
    ) -> ListPage {
        let done = outcomes.count { $0.error == nil }
        return ListPage(
            desk.frame("\(action.form.title): \(done) of \(outcomes.count) done", visitor, at: action.form.section),
            lead: "Each that was done stands in the audit log by itself.",
            table: Table(
                ["Which", "Outcome"],
                outcomes.map { id, error in
                    [
                        .init(id, href: action.page(id), isCode: true),
                        error.map { .init($0, tone: .warning) } ?? .init("done", tone: .ok),
                    ]
                }, empty: ""), here: action.form.section.path)
    }

    /// One of those that lists offer.
    private func action(_ name: String?) throws -> ConsoleAction {
        switch name.flatMap({ ConsoleAction(rawValue: $0) }) {
        case let action? where action.form.takesSelections: action
        default: throw Problem(.notFound, "there is no such action")
        }
    }

    private static func ids(_ texts: [String]) throws -> [String] {
        var seen: Set<String> = []
        let ids = texts.filter { seen.insert($0).inserted }
        guard (1...most).contains(ids.count), ids.allSatisfy(ConsoleActions.isID) else {
            throw Problem(.badRequest, "select at least one row and at most \(most), and try again")
        }
        return ids
    }
}
