import CLibPQ
import Foundation

/// Opens connections, each on a thread of its own: libpq's blocking call is the only one that keeps `connect_timeout`, tries
/// all hosts and looks up names without holding up the event thread.
struct Connector: Sendable {
    private let options: ConnectionOptions
    private let lastPrimary: LastPrimary

    /// - Parameter lastPrimary: one for all connectors of a pool.
    init(_ configuration: PostgresConfiguration, lastPrimary: LastPrimary) {
        options = ConnectionOptions(configuration, hasInEnvironment: Self.hasInEnvironment)
        self.lastPrimary = lastPrimary
    }

    @Sendable static func hasInEnvironment(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }

    /// - Throws: `CancellationError`.
    func connect() async throws -> Result<RawConnection, PostgresError> {
        try await HelperThread.run { open() }
    }

    private func open() -> Result<RawConnection, PostgresError> {
        let connectionString = options.configuration.connectionString
        if let error = ConnectionString.error(in: connectionString) { return .failure(error) }
        let all = options.keywords(last: lastPrimary.host)
        var keywords = all.map { UnsafePointer(strdup($0.0)) } + [nil]
        var values = all.map { UnsafePointer(strdup($0.1)) } + [nil]
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
        if options.wantsPrimary, let host = PQhost(raw), let port = PQport(raw) {
            lastPrimary.found(String(cString: host), port: String(cString: port), among: options.hosts)
        }
        return .success(RawConnection(raw))
    }
}
