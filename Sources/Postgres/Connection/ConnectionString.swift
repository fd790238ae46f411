import CLibPQ

/// Reads a connection string as libpq does.
enum ConnectionString {
    /// What is wrong with it; nil where nothing is. libpq's own words quote the string, and with it what may be a part of the
    /// password, so they are not passed on.
    static func error(in text: String) -> PostgresError? {
        guard !text.utf8.contains(0), options(text) != nil else {
            return PostgresError(
                .invalidConfiguration,
                "the connection string is neither a valid list of keyword=value pairs nor a valid postgresql:// URI")
        }
        return nil
    }

    /// `message` without the passwords of the connection string.
    static func redact(_ message: String, _ text: String) -> String {
        guard let options = options(text) else { return "" }
        return options.filter { ["password", "sslpassword"].contains($0.keyword) && !$0.value.isEmpty }
            .reduce(message) {
                // By bytes, as a reader of the message would find it: a mark behind the password hides nothing.
                String(decoding: Array($0.utf8).replacing(Array($1.value.utf8), with: Array("***".utf8)), as: UTF8.self)
            }
    }

    /// What the string itself says, without the environment and defaults; nil where it cannot be read.
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
