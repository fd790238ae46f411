import CLibPQ
import Foundation
import NIOConcurrencyHelpers

/// Opens connections, each on its own thread. Only libpq's blocking call respects `connect_timeout`, tries all hosts,
/// and looks up names without blocking the event thread.
struct PostgresConnector: Sendable {
    private let options: ConnectionOptions
    private let lastPrimary: LastPrimary

    /// - Parameter lastPrimary: shared by all connectors of a pool.
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

/// The host on which a pool last found the primary.
final class LastPrimary: Sendable {
    private let known = NIOLockedValueBox<HostList.Host?>(nil)

    var host: HostList.Host? { known.withLockedValue { $0 } }

    /// - Parameters:
    ///   - name: host of the open connection, from `PQhost`.
    ///   - port: its port, from `PQport`.
    func found(_ name: String, port: String, among hosts: HostList?) {
        let host = hosts?.hosts.first { $0.isServed(by: name, port: port) }
        known.withLockedValue { $0 = host }
    }
}

/// Passes an open `PGconn` from the thread that opened it to the event thread. Closes it if it is never taken.
final class RawConnection: Sendable {
    // Stored as a number, because Swift does not allow sending a pointer to another thread.
    private let address: NIOLockedValueBox<UInt>

    init(_ raw: OpaquePointer) { address = NIOLockedValueBox(UInt(bitPattern: raw)) }

    deinit {
        if let raw = take() { PQfinish(raw) }
    }

    /// Takes the pointer. Works once; the caller must then close it.
    func take() -> OpaquePointer? {
        address.withLockedValue { address in
            defer { address = 0 }
            return OpaquePointer(bitPattern: address)
        }
    }
}
