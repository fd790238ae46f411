/// Options of a connection for libpq: the user's, and defaults for a service where the user set none.
struct ConnectionOptions: Sendable {
    let configuration: PostgresConfiguration
    /// What the connection string itself says; nil where it cannot be read.
    private let said: [String: String]?
    private let hasInEnvironment: @Sendable (String) -> Bool

    /// - Parameter hasInEnvironment: whether a variable of libpq's (`PGCONNECT_TIMEOUT`) is set.
    init(_ configuration: PostgresConfiguration, hasInEnvironment: @escaping @Sendable (String) -> Bool) {
        self.configuration = configuration
        self.hasInEnvironment = hasInEnvironment
        said = ConnectionString.options(configuration.connectionString).map {
            Dictionary($0, uniquingKeysWith: { $1 })
        }
    }

    /// Nil where the string names none: then the environment, a service file or libpq's default does.
    var hosts: HostList? {
        guard let said else { return nil }
        return HostList(host: said["host"], hostaddr: said["hostaddr"], port: said["port"])
    }

    /// For each host that is tried, in whole seconds.
    var connectTimeout: Int {
        if let said = said?["connect_timeout"].flatMap(Int.init) { return min(max(2, said), Int(Int32.max)) }
        let limit =
            (hosts?.hosts.count ?? 1) > 1 ? configuration.failoverConnectTimeout : configuration.connectTimeout
        return max(2, Int((limit / .seconds(1)).rounded(.up)))
    }

    /// Whether only the primary will do, so that where it was found last is where to look first.
    var wantsPrimary: Bool {
        guard let said = said?["target_session_attrs"] else { return !hasInEnvironment("PGTARGETSESSIONATTRS") }
        return ["read-write", "primary"].contains(said)
    }

    /// In libpq's order: where a keyword comes twice the later one counts, so what stands before the connection string is
    /// a default and what stands after it is not.
    ///
    /// - Parameter last: where the primary was last. It is tried first: a host that is dead, or was the primary before and
    ///   is still writable, is not asked while that one answers.
    func keywords(last: HostList.Host? = nil) -> [(String, String)] {
        var keywords = defaults.filter { !hasInEnvironment($0.variable) }.map { ($0.keyword, $0.value) }
        keywords.append(("dbname", configuration.connectionString))
        if wantsPrimary, let last, let hosts { keywords += hosts.preferring(last).keywords }
        return keywords + [("client_encoding", "UTF8")]
    }

    private var defaults: [(keyword: String, value: String, variable: String)] {
        let silence = configuration.unreachableAfter / .milliseconds(1)
        var defaults = [
            // A server that is read-only, or that follows another, is passed over; with one host it is refused.
            ("target_session_attrs", "read-write", "PGTARGETSESSIONATTRS"),
            ("connect_timeout", "\(connectTimeout)", "PGCONNECT_TIMEOUT"),
            // libpq would look for Kerberos credentials before each connection, on helper threads, in a library that falls
            // over where the process ends meanwhile. Who encrypts that way says so.
            ("gssencmode", "disable", "PGGSSENCMODE"),
            // Linux ends a connection on which probes go unanswered when tcp_user_timeout is over, whatever their count.
            ("keepalives_idle", "5", ""), ("keepalives_interval", "2", ""), ("keepalives_count", "3", ""),
            ("tcp_user_timeout", "\(Int(min(silence, Double(Int32.max))))", ""),
        ]
        if let name = configuration.applicationName { defaults.append(("fallback_application_name", name, "")) }
        return defaults
    }
}
