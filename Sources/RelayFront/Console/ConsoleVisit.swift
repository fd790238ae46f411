import ConsolePages
import Hummingbird
import Operations
import RelayCore
import RelayStore

/// One request to the console, of somebody who is signed in.
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
    /// Rows that the pages show, and the actions change.
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

    /// - Throws: ``Problem`` 403 for a form that no page of this session has sent out.
    func check(_ form: FormBody) throws {
        guard ConsoleContext.isOwnSite(request), form["token"].map(token.isFormToken) == true else {
            throw Problem(
                .formNotOurs, "the form is not of this session: go back, load the page again, and send it once more")
        }
    }

    /// With what was just done, where an action led here.
    func frame(_ title: String, at section: Section, live: Int? = nil) -> Frame {
        var frame = console.frame(title)
        frame.welcome(session.key.name, role: roleText, formToken: token.formToken, at: section)
        frame.liveSeconds = live
        frame.notice = query["done"].flatMap { ConsoleAction(rawValue: $0) }?.form.done
        return frame
    }

    func response(_ page: some ConsolePage, status: HTTPResponse.Status = .ok) -> Response {
        console.response(page, status: status)
    }

    /// What keeps customers from access now. Nil where nothing does.
    func alert() async throws -> String? { Diagnosis(try await summary()).alert }

    /// How things stand with what the visitor may see, without counts by status.
    func summary() async throws -> OpsSummary { try await console.summaries.value(in: scope) }
}

/// The query of a page's address, as a browser's form writes it.
struct ConsoleQuery: Sendable {
    private let items: QueryItems

    init(_ request: Request) {
        // A form's space is a plus sign, and its plus sign is escaped.
        items = QueryItems((request.uri.query ?? "").parts(at: "+").joined(separator: "%20"))
    }

    /// Without the space around it.
    subscript(name: String) -> String? {
        items[name].flatMap { text in
            let text = text.trimmingSpace()
            return text.isEmpty ? nil : text
        }
    }

    /// Runs a read.
    ///
    /// - Returns: what is wrong with the query, in a sentence; nil where nothing is.
    func reading(_ read: (QueryItems) async throws -> Void) async throws -> String? {
        do {
            try await read(items)
            return nil
        } catch let problem as Problem where problem.code == .invalidFields {
            return problem.errors.map { "\($0.field) \($0.detail)" }.joined(separator: "; ")
        }
    }
}
