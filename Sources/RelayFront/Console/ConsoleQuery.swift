import Hummingbird
import RelayCore

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

    func all(_ names: [String]) -> [(String, String?)] { names.map { ($0, self[$0]) } }

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
