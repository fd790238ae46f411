import Formats
import HTTPServer
import Relay

extension ErrorDialect {
    /// An HTML page.
    static func console(_ pages: ConsolePages) -> ErrorDialect {
        ErrorDialect { problem in
            ConsoleContext.problem(problem.code == .databaseUnavailable ? .consoleWithoutDatabase : problem, pages)
        } of: {
            $0 == "/" || $0.hasBytes(first: "/console")
        }
    }
}

extension Problem {
    /// The problem for visitors of the console. Without the database it cannot tell who they are, so it names neither the
    /// server nor its words: the log has them.
    fileprivate static let consoleWithoutDatabase = Problem(
        .databaseUnavailable,
        "The database cannot be used: the log of this copy says why, in the lines \"not ready\". Nothing that was accepted is lost: it is in the database, and goes on when that is back. Apps are answered 503 meanwhile, and send their purchases again."
    )
}
