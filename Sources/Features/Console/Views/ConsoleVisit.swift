import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// One request of a signed-in visitor to the console.
struct ConsoleVisit: Sendable {
    let console: ConsoleContext
    let request: Request
    let context: FrontContext
    let query: ConsoleQuery
    let session: ConsoleSession
    let token: ConsoleSession.Token

    var store: RelayStore { console.store }
    var isOperator: Bool { session.key.role.opens(.opsOperator) }
    var actor: Actor { Actor(session.key) }
    /// Rows that the pages may show and the actions may change.
    var scope: OpsScope { session.key.opsScope }

    private var roleText: String {
        scope.publisher.map { "\(session.key.role.name) of \($0)" } ?? session.key.role.name
    }

    /// - Throws: ``Problem`` 403.
    func checkOperator() throws {
        guard isOperator else {
            throw Problem(.wrongRole, "this takes a key of the role \(KeyRole.opsOperator.name)")
        }
    }

    /// - Throws: ``Problem`` 403 for a form that was not sent by a page of this session.
    func check(_ form: FormBody) throws {
        guard ConsoleContext.isOwnSite(request), form["token"].map(token.isFormToken) == true else {
            throw Problem(
                .formNotOurs, "the form is not of this session: go back, load the page again, and send it once more")
        }
    }

    /// The frame of a page. After an action it shows the action's result.
    func frame(_ title: String, at section: Section, live: Int? = nil) -> Frame {
        var frame = console.frame(title)
        frame.welcome(session.key.name, role: roleText, formToken: token.formToken, at: section, of: console.sections)
        frame.liveSeconds = live
        frame.notice = query["done"].flatMap { ConsoleAction(rawValue: $0) }?.form.done
        return frame
    }

    func response(_ page: some ConsolePage, status: HTTPResponse.Status = .ok) -> Response {
        console.response(page, status: status)
    }

    /// Text about what keeps customers from access now; nil if nothing does.
    func alert() async throws -> String? { Diagnosis(try await summary()).alert }

    /// Summary of what the visitor may see, without counts by status.
    func summary() async throws -> OpsSummary { try await console.summaries.value(in: scope) }
}

/// Query of a page's address, as browsers' forms write it.
struct ConsoleQuery: Sendable {
    private let items: QueryItems

    init(_ request: Request) {
        // In a form's query a plus sign means a space, and a real plus sign is escaped.
        items = QueryItems((request.uri.query ?? "").parts(at: "+").joined(separator: "%20"))
    }

    /// The value without surrounding space; nil if it is empty.
    subscript(name: String) -> String? {
        items[name].flatMap { text in
            let text = text.trimmingSpace()
            return text.isEmpty ? nil : text
        }
    }

    /// Runs a read.
    ///
    /// - Returns: a sentence about what is wrong with the query; nil if nothing is.
    func reading(_ read: (QueryItems) async throws -> Void) async throws -> String? {
        do {
            try await read(items)
            return nil
        } catch let problem as Problem where problem.code == .invalidFields {
            return problem.errors.map { "\($0.field) \($0.detail)" }.joined(separator: "; ")
        }
    }
}
