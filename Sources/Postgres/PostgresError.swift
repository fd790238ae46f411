import CLibPQ

/// Why a call to the database failed.
///
/// Two errors are equal where their ``code`` is. ``shortDescription`` is fit for a metric's label; the server's own words
/// are in ``serverMessage`` and, of the descriptions, only in `String(reflecting:)`. No description ever holds a parameter's
/// value: the server's DETAIL, which quotes rows, is never read, and messages about malformed data are cut before the data.
public struct PostgresError: Error, Sendable {
    /// What kind of failure it is.
    public enum Code: String, Sendable, CustomStringConvertible {
        /// A connection could not be opened.
        case connectFailed
        /// No connection was up, nor came up within the wait for one; nothing was sent.
        case notConnected
        /// The connection was lost under the statement.
        case connectionLost
        /// The call's deadline passed, or the server's `statement_timeout`.
        case timedOut
        /// Somebody else cancelled the statement (SQLSTATE 57014 before its time was up).
        case cancelled
        /// The server answered with an error: see ``PostgresError/sqlState``.
        case server
        /// Too many calls are waiting already; nothing was sent.
        case overloaded
        /// The pool was shut down.
        case closed
        /// A column is not there, is NULL, or does not fit the type asked for.
        case decoding
        /// The statement cannot be sent as it is: a NUL in its text, too many or too large parameters.
        case invalidQuery
        /// The connection string cannot be read.
        case invalidConfiguration
        /// The transaction has ended already.
        case transactionOver
        /// What is private can be neither sealed nor opened: the vault has not been opened yet.
        case locked

        public var description: String { rawValue }
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

extension PostgresError {
    /// True where the database is away or cannot take work at all, so that trying another statement is pointless for now:
    /// trouble with the connection, shutdown or start-up of the server, a standby that refuses writes, no space left.
    ///
    /// Classes and codes are those of the PostgreSQL manual, appendix A.
    public var isUnavailable: Bool {
        switch code {
        case .connectFailed, .notConnected, .connectionLost, .closed, .invalidConfiguration, .locked: return true
        default: break
        }
        guard let sqlState else { return false }
        // 08 connection exception; 53 insufficient resources, too many connections among them; 57P0x shutdown, crash,
        // starting up, idle time-outs; 58 trouble below the server; 25006 read-only transaction.
        return ["08", "53", "57P", "58"].contains(where: sqlState.hasPrefix) || sqlState == "25006"
    }

    /// True where the same call may well succeed if made again: a deadlock, a serialization failure, a plan outdated by a
    /// change of the schema, and everything that is ``isUnavailable``.
    public var isTransient: Bool {
        // 34000 portal does not exist: a pooler gave the rest of a statement to another session. No portal here outlives its statement.
        isUnavailable || isStalePlan || sqlState == "40001" || sqlState == "40P01" || sqlState == "34000"
    }

    /// True where the server is there and will not run the statement: a missing table, column or right, a broken constraint, data that
    /// it cannot take.
    public var isRefusal: Bool {
        guard code == .server, !isTransient, !isStrayStatement, let sqlState else { return false }
        // 55 somebody else has what is wanted; 57 broken off from outside.
        return !["55", "57"].contains(where: sqlState.hasPrefix)
    }

    /// True where a prepared statement was not there any more, or another session's was in its place: so it is behind a pooler
    /// that gives each transaction another session, unless ``PostgresConfiguration/preparesStatements`` is false.
    public var isStrayStatement: Bool { sqlState == "42P05" || sqlState == "26000" }

    static let noConnection = "no connection is up"

    /// The words of libpq or of the server alone, on one line; of this library where neither said anything. Never a password.
    public var reason: String {
        let lead = Self.noConnection + ": "
        let words = serverMessage.hasPrefix(lead) ? serverMessage.dropFirst(lead.count) : Substring(serverMessage)
        // libpq asks behind each host whether the server is running there.
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
            // Without an SQLSTATE it is libpq itself that speaks, and it does so when the connection is gone.
            self.init(.connectionLost, Self.oneLine(message), outcomeUnknown: true)
            return
        }
        // 0A000 says "not supported" of many things; only this one is cured by preparing the statement again.
        let isOutdated = sqlState == "0A000" && field("R") == "RevalidateCachedQuery"
        self.init(
            .server, Self.withoutData(message, sqlState: sqlState), sqlState: sqlState, constraint: field("n"),
            // After such an end the server may or may not have committed.
            outcomeUnknown: sqlState.hasPrefix("57P"), isStalePlan: isOutdated || sqlState == "26000")
    }

    /// Messages of class 22 (data exception) quote the value that was wrong, after a quotation mark or a colon.
    static func withoutData(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22") else { return message }
        // By scalars: a value may begin with a mark that makes one character with the quotation mark before it.
        return String(String.UnicodeScalarView(message.unicodeScalars.prefix { !quotes.contains($0) }))
    }

    private static let quotes = Set("\"«„“‘'`:".unicodeScalars)

    static func oneLine(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
