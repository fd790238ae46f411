/// Options of a connection for libpq: the configured ones, and defaults that suit a service.
struct ConnectionOptions: Sendable {
    let configuration: PostgresConfiguration
    /// Options in the connection string; nil if it cannot be parsed.
    private let said: [String: String]?
    private let hasInEnvironment: @Sendable (String) -> Bool

    /// - Parameter hasInEnvironment: whether a libpq variable (`PGCONNECT_TIMEOUT`) is set.
    init(_ configuration: PostgresConfiguration, hasInEnvironment: @escaping @Sendable (String) -> Bool) {
        self.configuration = configuration
        self.hasInEnvironment = hasInEnvironment
        said = ConnectionString.options(configuration.connectionString).map {
            Dictionary($0, uniquingKeysWith: { $1 })
        }
    }

    /// Nil if the string names none: then the environment, a service file or libpq's default decides.
    var hosts: HostList? {
        guard let said else { return nil }
        return HostList(host: said["host"], hostaddr: said["hostaddr"], port: said["port"])
    }

    /// Timeout for each host, in whole seconds.
    var connectTimeout: Int {
        if let said = said?["connect_timeout"].flatMap(Int.init) { return min(max(2, said), Int(Int32.max)) }
        let limit =
            (hosts?.hosts.count ?? 1) > 1 ? configuration.failoverConnectTimeout : configuration.connectTimeout
        return max(2, Int((limit / .seconds(1)).rounded(.up)))
    }

    /// Whether only the primary is acceptable. If so, the host where it was found last is tried first.
    var wantsPrimary: Bool {
        guard let said = said?["target_session_attrs"] else { return !hasInEnvironment("PGTARGETSESSIONATTRS") }
        return ["read-write", "primary"].contains(said)
    }

    /// Keywords in libpq's order. Of a repeated keyword the later one counts: those before the connection string are
    /// defaults, those after it override it.
    ///
    /// - Parameter last: where the primary was found last. It is tried first. While it answers, libpq does not ask a
    ///   dead host, or a former primary that is still writable.
    func keywords(last: HostList.Host? = nil) -> [(String, String)] {
        var keywords = defaults.filter { !hasInEnvironment($0.variable) }.map { ($0.keyword, $0.value) }
        keywords.append(("dbname", configuration.connectionString))
        if wantsPrimary, let last, let hosts { keywords += hosts.preferring(last).keywords }
        return keywords + [("client_encoding", "UTF8")]
    }

    private var defaults: [(keyword: String, value: String, variable: String)] {
        let silence = configuration.unreachableAfter / .milliseconds(1)
        var defaults = [
            // A read-only server or standby is skipped; if it is the only host, connecting fails.
            ("target_session_attrs", "read-write", "PGTARGETSESSIONATTRS"),
            ("connect_timeout", "\(connectTimeout)", "PGCONNECT_TIMEOUT"),
            // Otherwise libpq looks for Kerberos credentials before each connection, on helper threads. Its library
            // crashes if the process ends meanwhile. Users of GSS encryption can enable it.
            ("gssencmode", "disable", "PGGSSENCMODE"),
            // With tcp_user_timeout, Linux ends a connection with unanswered probes at that time, whatever their count.
            ("keepalives_idle", "5", ""), ("keepalives_interval", "2", ""), ("keepalives_count", "3", ""),
            ("tcp_user_timeout", "\(Int(min(silence, Double(Int32.max))))", ""),
        ]
        if let name = configuration.applicationName { defaults.append(("fallback_application_name", name, "")) }
        return defaults
    }
}
