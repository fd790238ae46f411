import HTTPServer
import Hummingbird
import Relay

/// One action on several rows: one confirmation and one reason, but performed and recorded row by row.
struct ConsoleSelection: Sendable {
    static let path = "/console/selected"
    /// Bound of selected rows: one page.
    static let most = 50

    let actions: ConsoleActions

    /// The selection that a list offers.
    static func picks(_ offered: [ConsoleAction]) -> ListPage.Picks {
        ListPage.Picks(
            target: path, buttons: offered.map { .init($0.rawValue, $0.form.button, isGrave: $0.form.isGrave) })
    }

    func confirm(_ visit: ConsoleVisit) throws -> Response {
        try visit.checkOperator()
        let query = QueryItems(visit.request.uri.query)
        return visit.response(
            page(try action(query["action"]), try Self.ids(query.all("id", most: Self.most + 1)), visit))
    }

    func act(_ visit: ConsoleVisit, _ form: FormBody) async throws -> Response {
        let action = try action(form["action"])
        let ids = try Self.ids(
            (form["ids"] ?? "").utf8.split(separator: UInt8(ascii: ","), maxSplits: Self.most).map {
                String(Substring($0))
            })
        guard let reason = ConsoleActions.reason(form["reason"]) else {
            return visit.response(
                page(action, ids, visit, error: ConsoleActions.wantsReason), status: .unprocessableContent)
        }
        var outcomes: [(id: String, error: String?)] = []
        var trouble: String?
        for id in ids {
            if let trouble {
                outcomes.append((id, "not tried: \(trouble)"))
                continue
            }
            do {
                try await action.perform(id, actions.tools, by: visit.actor, reason: reason)
                outcomes.append((id, nil))
            } catch {
                let problem = Problem(describing: error)
                outcomes.append((id, "\(problem.code.title): \(problem.detail)"))
                // A server error would affect the next rows too.
                if problem.status.kind == .serverError { trouble = problem.code.title }
            }
        }
        return visit.response(results(action, outcomes, visit))
    }

    private func page(
        _ action: ConsoleAction, _ ids: [String], _ visit: ConsoleVisit, error: String? = nil
    ) -> ConfirmPage {
        let form = action.form
        return ConfirmPage(
            visit.frame("\(form.title): \(ids.count) selected", at: form.section),
            consequence: "Of each: \(form.consequence)", target: ids.joined(separator: ", "),
            button: "\(form.button) \(ids.count)", isGrave: form.isGrave, action: Self.path,
            back: form.section.path, error: error,
            hidden: [("action", action.rawValue), ("ids", ids.joined(separator: ","))])
    }

    private func results(
        _ action: ConsoleAction, _ outcomes: [(id: String, error: String?)], _ visit: ConsoleVisit
    ) -> ListPage {
        let done = outcomes.count { $0.error == nil }
        return ListPage(
            visit.frame("\(action.form.title): \(done) of \(outcomes.count) done", at: action.form.section),
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

    /// The action by its name, if lists offer it.
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
