import CLibPQ

extension PostgresError {
    /// From a result that carries an error or a notice. Reads neither DETAIL nor CONTEXT: they quote rows and parameters.
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
