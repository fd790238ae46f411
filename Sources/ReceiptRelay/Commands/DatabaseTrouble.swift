import Postgres

/// Why the database cannot be used, in the words of libpq or the server, and what to do about it.
enum DatabaseTrouble {
    /// One line, without the password.
    static func line(_ error: PostgresError) -> String {
        "the database cannot be reached: \(error.reason); \(advice(error))"
    }

    /// By the words, since libpq gives no code for a connection that it cannot open.
    private static func advice(_ error: PostgresError) -> String {
        let (reason, url) = (error.reason, Setting.databaseURL.name)
        if error.code == .invalidConfiguration { return "correct \(url)" }
        if reason.contains("role \"") && reason.contains("does not exist") {
            return "create the role (CREATE ROLE … LOGIN), or correct the user in \(url)"
        }
        if reason.contains("database \"") && reason.contains("does not exist") {
            return "create the database (CREATE DATABASE … OWNER …), or correct its name in \(url)"
        }
        if reason.contains("authentication failed") || reason.contains("no password supplied") {
            return "correct the user or the password in \(url)"
        }
        if reason.contains("no pg_hba.conf entry") {
            return "allow this host and user in the server's pg_hba.conf, or correct \(url)"
        }
        if reason.contains("Connection refused") || reason.contains("No such file or directory") {
            return "start the server, or correct host and port in \(url)"
        }
        if reason.contains("could not translate host name") { return "correct the host in \(url)" }
        return "check that the server runs and that \(url) names it"
    }
}
