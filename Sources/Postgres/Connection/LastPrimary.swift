import NIOConcurrencyHelpers

/// The host on which a pool found the primary last.
final class LastPrimary: Sendable {
    private let known = NIOLockedValueBox<HostList.Host?>(nil)

    var host: HostList.Host? { known.withLockedValue { $0 } }

    /// - Parameters:
    ///   - name: as libpq says it of an open connection (`PQhost`).
    ///   - port: likewise (`PQport`).
    func found(_ name: String, port: String, among hosts: HostList?) {
        let host = hosts?.hosts.first { $0.isServed(by: name, port: port) }
        known.withLockedValue { $0 = host }
    }
}
