import CLibPQ

/// Why a call to the database failed.
///
/// Two errors are equal if their ``code`` is. ``shortDescription`` can be a metric's label. The server's message is in
/// ``serverMessage`` and in `String(reflecting:)`, but not in other descriptions. No description holds a parameter's
/// value: the server's DETAIL, which quotes rows, is never read. Messages about malformed data are cut before the data.
public struct PostgresError: Error, Sendable {
    /// Kind of the failure.
    public enum Code: String, Sendable, CustomStringConvertible {
        /// A connection could not be opened.
        case connectFailed
        /// No connection was up, and none came up in time; nothing was sent.
        case notConnected
        /// The connection was lost during the statement.
        case connectionLost
        /// The call's deadline or the server's `statement_timeout` passed.
        case timedOut
        /// Another client cancelled the statement (SQLSTATE 57014 before its time was over).
        case cancelled
        /// The server answered with an error: see ``PostgresError/sqlState``.
        case server
        /// Too many calls are already waiting; nothing was sent.
        case overloaded
        /// The pool was shut down.
        case closed
        /// A column is missing, NULL, or does not fit the requested type.
        case decoding
        /// The statement cannot be sent: a NUL in its text, too many or too large parameters.
        case invalidQuery
        /// The connection string cannot be parsed.
        case invalidConfiguration
        /// The transaction has already ended.
        case transactionOver
        /// Private values cannot be sealed or opened, because the vault is not open yet.
        case locked

        public var description: String { rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The server's five-character SQLSTATE (PostgreSQL manual, appendix A), if the server answered.
    public let sqlState: String?
    /// Name of the violated constraint, for errors of class 23, or from `RAISE … USING CONSTRAINT`.
    public let constraint: String?
    /// The server's primary message, or libpq's, or a sentence of this library. At most 500 characters.
    public let serverMessage: String
    /// True if the statement may have taken effect without an answer: the connection was lost, or the deadline passed,
    /// after it was sent.
    public let outcomeUnknown: Bool
    /// True if a schema change invalidated the server's plan: a retry makes a new one.
    let isStalePlan: Bool

    /// Creates an error for a ``PostgresVault`` to throw.
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

extension PostgresError {
    /// True if the database is unavailable, so that trying another statement is pointless for now. Causes: connection
    /// trouble, shutdown or start-up of the server, a read-only standby, no space left.
    ///
    /// Classes and codes are those of the PostgreSQL manual, appendix A.
    public var isUnavailable: Bool {
        switch code {
        case .connectFailed, .notConnected, .connectionLost, .closed, .invalidConfiguration, .locked: return true
        default: break
        }
        guard let sqlState else { return false }
        // 08 connection exception; 53 insufficient resources, including too many connections; 57P0x shutdown, crash,
        // start-up, idle timeouts; 58 system error outside the server; 25006 read-only transaction.
        return ["08", "53", "57P", "58"].contains(where: sqlState.hasPrefix) || sqlState == "25006"
    }

    /// True if a retry of the same call may succeed: after a deadlock, a serialization failure, a plan outdated by a
    /// schema change, and if ``isUnavailable``.
    public var isTransient: Bool {
        // 34000 portal does not exist: a pooler gave the rest of a statement to another session. No portal here
        // outlives its statement.
        isUnavailable || isStalePlan || sqlState == "40001" || sqlState == "40P01" || sqlState == "34000"
    }

    /// True if the server is available but refuses the statement: a missing table, column or privilege, a violated
    /// constraint, invalid data.
    public var isRefusal: Bool {
        guard code == .server, !isTransient, !isStrayStatement, let sqlState else { return false }
        // 55 object in use by another session; 57 operator intervention.
        return !["55", "57"].contains(where: sqlState.hasPrefix)
    }

    /// True if a prepared statement was missing, or belonged to another session. The cause is a pooler in transaction
    /// mode, unless ``PostgresConfiguration/preparesStatements`` is false.
    public var isStrayStatement: Bool { sqlState == "42P05" || sqlState == "26000" }

    static let noConnection = "no connection is up"

    /// The message of libpq or of the server, on one line; this library's message if neither gave one. Never a
    /// password.
    public var reason: String {
        let lead = Self.noConnection + ": "
        let words = serverMessage.hasPrefix(lead) ? serverMessage.dropFirst(lead.count) : Substring(serverMessage)
        // libpq adds, after each host, the question whether the server is running there.
        let plain = words.replacing(#/ Is the server running [^?]*\?/#, with: ";")
        return String(plain.hasSuffix(";") ? plain.dropLast() : plain)
    }

    /// The code and the SQLSTATE, as in `server_23505`.
    public var shortDescription: String {
        guard let sqlState else { return code.description }
        return "\(code)_\(sqlState.prefix(5))"
    }

    func with(outcomeUnknown: Bool) -> PostgresError {
        PostgresError(
            code, serverMessage, sqlState: sqlState, constraint: constraint, outcomeUnknown: outcomeUnknown,
            isStalePlan: isStalePlan)
    }
}

extension PostgresError: Equatable {
    public static func == (left: PostgresError, right: PostgresError) -> Bool { left.code == right.code }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Adds the server's own message for a refused statement: the code alone does not name the missing column. The
    /// message holds neither rows nor parameters.
    public var description: String {
        code == .server && !isUnavailable && !serverMessage.isEmpty
            ? "\(shortDescription): \(serverMessage)" : shortDescription
    }

    public var debugDescription: String {
        var text = "\(shortDescription): \(serverMessage)"
        if let constraint { text += " (constraint \(constraint))" }
        if outcomeUnknown { text += " (outcome unknown)" }
        return text
    }
}

extension PostgresError {
    /// Reads a result that carries an error or a notice. Skips DETAIL and CONTEXT, which quote rows and parameters.
    init(result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            guard let code = code.asciiValue, let text = PQresultErrorField(result, Int32(code)) else { return nil }
            return String(cString: text)
        }
        // The codes are PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY, PG_DIAG_CONSTRAINT_NAME, PG_DIAG_SOURCE_FUNCTION.
        let sqlState = field("C")
        let message = field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
        guard let sqlState else {
            // Without an SQLSTATE the message is libpq's own, which means that the connection is gone.
            self.init(.connectionLost, Self.oneLine(message), outcomeUnknown: true)
            return
        }
        // 0A000 means "not supported" in many cases; only in this one does preparing again help.
        let isOutdated = sqlState == "0A000" && field("R") == "RevalidateCachedQuery"
        self.init(
            .server, Self.withoutData(message, sqlState: sqlState), sqlState: sqlState, constraint: field("n"),
            // After such an end, the server may or may not have committed.
            outcomeUnknown: sqlState.hasPrefix("57P"), isStalePlan: isOutdated || sqlState == "26000")
    }

    /// Messages of class 22 (data exception) quote the wrong value after a quotation mark or a colon.
    static func withoutData(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22") else { return message }
        // Compares scalars: a value may begin with a mark that forms one character with the quotation mark before it.
        return String(String.UnicodeScalarView(message.unicodeScalars.prefix { !quotes.contains($0) }))
    }

    private static let quotes = Set("\"«„“‘'`:".unicodeScalars)

    static func oneLine(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
