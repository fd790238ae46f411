import CLibPQ

/// Parses a connection string as libpq does.
enum ConnectionString {
    /// Error of an invalid string; nil if it is valid. libpq's own message quotes the string, possibly with a part of
    /// the password, so it is not used.
    static func error(in text: String) -> PostgresError? {
        guard !text.utf8.contains(0), options(text) != nil else {
            return PostgresError(
                .invalidConfiguration,
                "the connection string is neither a valid list of keyword=value pairs nor a valid postgresql:// URI")
        }
        return nil
    }

    /// The message with passwords of the connection string replaced.
    static func redact(_ message: String, _ text: String) -> String {
        guard let options = options(text) else { return "" }
        return options.filter { ["password", "sslpassword"].contains($0.keyword) && !$0.value.isEmpty }
            .reduce(message) {
                // Compares bytes, as a reader of the message does: a combining mark after the password hides nothing.
                String(decoding: Array($0.utf8).replacing(Array($1.value.utf8), with: Array("***".utf8)), as: UTF8.self)
            }
    }

    /// Options in the string itself, without environment and defaults; nil if it cannot be parsed.
    static func options(_ text: String) -> [(keyword: String, value: String)]? {
        var message: UnsafeMutablePointer<CChar>?
        defer { PQfreemem(message) }
        guard let options = PQconninfoParse(text, &message) else { return nil }
        defer { PQconninfoFree(options) }
        var result: [(keyword: String, value: String)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                result.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
        return result
    }
}
