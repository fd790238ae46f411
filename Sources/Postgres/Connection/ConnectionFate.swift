/// What an error of the server's says about the connection that it came on.
enum ConnectionFate {
    /// Whether the connection is to be given up once it is idle, and another made, which may lead to another server.
    ///
    /// Classes and codes are those of the PostgreSQL manual, appendix A.
    static func isOver(after sqlState: String?) -> Bool {
        guard let sqlState else { return false }
        // 25006 read-only: what was the primary is one no longer. 57P0x: shutdown, crash, starting up, database dropped,
        // idle for too long. 08 connection exception: so does a pooler say that it has lost the server behind it.
        return sqlState == "25006" || sqlState.hasPrefix("57P") || sqlState.hasPrefix("08")
    }
}
