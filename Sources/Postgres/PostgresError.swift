/// Why a call to the database failed.
///
/// Two errors are equal where their ``code`` is. ``shortDescription`` is fit for a metric's label; the server's own words
/// are in ``serverMessage`` and, of the descriptions, only in `String(reflecting:)`. No description ever holds a parameter's
/// value: the server's DETAIL, which quotes rows, is never read, and messages about malformed data are cut before the data.
public struct PostgresError: Error, Sendable {
    /// What kind of failure it is.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case connectFailed, notConnected, connectionLost, timedOut, cancelled, server, overloaded, closed, decoding
            case invalidQuery, invalidConfiguration, transactionOver, locked
        }

        private let value: Value

        /// A connection could not be opened.
        public static let connectFailed = Code(value: .connectFailed)
        /// No connection was up, nor came up within the wait for one; nothing was sent.
        public static let notConnected = Code(value: .notConnected)
        /// The connection was lost under the statement.
        public static let connectionLost = Code(value: .connectionLost)
        /// The call's deadline passed, or the server's `statement_timeout`.
        public static let timedOut = Code(value: .timedOut)
        /// Somebody else cancelled the statement (SQLSTATE 57014 before its time was up).
        public static let cancelled = Code(value: .cancelled)
        /// The server answered with an error: see ``PostgresError/sqlState``.
        public static let server = Code(value: .server)
        /// Too many calls are waiting already; nothing was sent.
        public static let overloaded = Code(value: .overloaded)
        /// The pool was shut down.
        public static let closed = Code(value: .closed)
        /// A column is not there, is NULL, or does not fit the type asked for.
        public static let decoding = Code(value: .decoding)
        /// The statement cannot be sent as it is: a NUL in its text, too many or too large parameters.
        public static let invalidQuery = Code(value: .invalidQuery)
        /// The connection string cannot be read.
        public static let invalidConfiguration = Code(value: .invalidConfiguration)
        /// The transaction has ended already.
        public static let transactionOver = Code(value: .transactionOver)

        /// What is private can be neither sealed nor opened: the vault has not been opened yet.
        public static let locked = Code(value: .locked)

        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The server's five-character SQLSTATE (PostgreSQL manual, appendix A), where the server answered.
    public let sqlState: String?
    /// The name of the violated constraint, for errors of class 23, or where `RAISE … USING CONSTRAINT` gave one.
    public let constraint: String?
    /// The server's primary message, or libpq's, or a sentence of this library. At most 500 characters.
    public let serverMessage: String
    /// True where the statement may have taken effect although no answer came: the connection was lost, or the deadline
    /// passed, after it was sent.
    public let outcomeUnknown: Bool
    /// True where the server holds a plan that a change of the schema made useless: the next try makes a new one.
    let isStalePlan: Bool

    /// What a ``PostgresVault`` throws.
    public static func vault(_ code: Code, _ message: String) -> PostgresError { PostgresError(code, message) }

    init(
        _ code: Code, _ message: String, sqlState: String? = nil, constraint: String? = nil,
        outcomeUnknown: Bool = false, isStalePlan: Bool = false
    ) {
        self.code = code
        self.serverMessage = String(message.prefix(500))
        self.sqlState = sqlState
        self.constraint = constraint
        self.outcomeUnknown = outcomeUnknown
        self.isStalePlan = isStalePlan
    }
}
