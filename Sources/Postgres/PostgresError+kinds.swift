extension PostgresError {
    /// True where the database is away or cannot take work at all, so that trying another statement is pointless for now:
    /// trouble with the connection, shutdown or start-up of the server, a standby that refuses writes, no room left.
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
        isUnavailable || isStalePlan || sqlState == "40001" || sqlState == "40P01"
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
    /// Of a refused statement with the server's own words: by the code alone nobody finds the column that is missing. They hold neither
    /// rows nor parameters (``init(result:)``).
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
