import CLibPQ
import Foundation

/// Opens connections, each on a thread of its own: libpq's blocking call is the only one that keeps `connect_timeout`, tries
/// all hosts and looks up names without holding up the event thread.
struct Connector: Sendable {
    let configuration: PostgresConfiguration

    /// - Throws: `CancellationError`.
    func connect() async throws -> Result<RawConnection, PostgresError> {
        let options = options
        let connectionString = configuration.connectionString
        return try await HelperThread.run { Self.connect(options, connectionString) }
    }

    /// In libpq's order: where a keyword comes twice the later one counts, so what stands before the connection string is
    /// a default and what stands after it is not.
    private var options: [(String, String)] {
        let seconds = max(2, Int((configuration.connectTimeout / .seconds(1)).rounded(.up)))
        // Longer than a statement may take: Linux also counts the time in which a busy server reads nothing.
        let unanswered = Int((configuration.statementTimeout + .seconds(5)) / .milliseconds(1))
        var options = [
            ("connect_timeout", "\(seconds)"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(min(unanswered, Int(Int32.max)))"),
        ]
        if let name = configuration.applicationName { options.append(("fallback_application_name", name)) }
        return options + [("dbname", configuration.connectionString), ("client_encoding", "UTF8")]
    }

    private static func connect(
        _ options: [(String, String)], _ connectionString: String
    ) -> Result<RawConnection, PostgresError> {
        if let error = ConnectionString.error(in: connectionString) { return .failure(error) }
        var keywords = options.map { UnsafePointer(strdup($0.0)) } + [nil]
        var values = options.map { UnsafePointer(strdup($0.1)) } + [nil]
        defer { for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) } }
        guard let raw = PQconnectdbParams(&keywords, &values, 1) else {
            return .failure(PostgresError(.connectFailed, "out of memory"))
        }
        guard PQstatus(raw) == CONNECTION_OK else {
            let message = PQerrorMessage(raw).map { String(cString: $0) } ?? ""
            PQfinish(raw)
            let text = ConnectionString.redact(PostgresError.oneLine(message), connectionString)
            return .failure(PostgresError(.connectFailed, text))
        }
        return .success(RawConnection(raw))
    }
}
