/// How to reach a server, and how much to ask of it at once.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection string, either `host=… dbname=…` or `postgresql://…`; several hosts, TLS, service and password files
    /// are as in the libpq manual. What it (or libpq's environment) says about `target_session_attrs`, `connect_timeout`,
    /// `keepalives…` and `tcp_user_timeout` goes before the defaults of this library: only a server that takes writes will
    /// do, and one that is out of reach is soon given up. A service file's word on these does not count.
    public var connectionString: String
    /// The `application_name` where the connection string gives none.
    public var applicationName: String?
    /// Pipelined connections for single statements. At least 1.
    public var sharedConnections = 4
    /// Statements in flight on one shared connection. At least 1.
    public var pipelineDepth = 32
    /// Connections for transactions, one at a time on each. At least 1.
    public var exclusiveConnections = 2
    /// Calls that may wait in each lane; one more fails as ``PostgresError/Code/overloaded``.
    public var maxWaiting = 4096
    /// For the one host there is. libpq counts whole seconds, and takes 1 for 2.
    public var connectTimeout: Duration = .seconds(5)
    /// For each of several hosts: a dead one must not cost much.
    public var failoverConnectTimeout: Duration = .seconds(3)
    /// When a connection is given up whose other end acknowledges nothing: a machine without power or network. Longer than
    /// ``queryTimeout``, for Linux also counts the time in which a busy server reads nothing.
    public var unreachableAfter: Duration = .seconds(12)
    /// The deadline of a call that gives none.
    public var queryTimeout: Duration = .seconds(10)
    /// When the server is to end a statement on a shared connection (`statement_timeout`), so that one whose caller has gone
    /// does not run on. It also bounds what a call may ask for as its own deadline; and a server that has not even done this
    /// five seconds later is taken for dead. Not set where ``preparesStatements`` is
    /// false, for then the session is not ours: give the role a `statement_timeout` instead.
    public var statementTimeout: Duration = .seconds(15)
    /// When the server is to end a transaction whose client says nothing (`idle_in_transaction_session_timeout`). As above.
    public var idleInTransactionTimeout: Duration = .seconds(60)
    /// Parameters of the server that each session begins with: names and values as `SET` takes them, from the program alone. Not set
    /// where ``preparesStatements`` is false.
    public var sessionParameters: [String: String] = [:]
    /// How long a call waits for a connection while none is up.
    public var connectionWait: Duration = .seconds(2)
    public var backoff = Backoff()
    /// False sends every statement unnamed, as a pooler in transaction mode needs it (PgBouncer).
    public var preparesStatements = true
    /// How old the plans get that a session makes first, and any: one gets as old as the session was when it made it. Without effect where
    /// ``preparesStatements`` is false.
    public var planAge: ClosedRange<Duration> = .seconds(5) ... .seconds(300)
    /// What seals private values.
    public var vault: any PostgresVault = NoVault()

    public init(connectionString: String) {
        self.connectionString = connectionString
    }

    /// The pauses between two tries to connect.
    public struct Backoff: Sendable, Hashable {
        /// After the first failure, before jitter.
        public var initial: Duration = .milliseconds(100)
        /// The pause doubles with each failure up to this.
        public var max: Duration = .seconds(3)

        public init() {}
    }
}

extension PostgresConfiguration {
    /// What is wrong with ``connectionString``, by libpq's own reading of it; nil where nothing is. It says nothing of whether
    /// a server can be reached.
    public var connectionStringError: PostgresError? { ConnectionString.error(in: connectionString) }

    private var options: ConnectionOptions { ConnectionOptions(self, hasInEnvironment: Connector.hasInEnvironment) }

    /// How long it may take until the last of several hosts is tried, where all before it are dead; zero where there is one.
    public var failoverTime: Duration {
        .seconds(options.connectTimeout) * ((options.hosts?.hosts.count ?? 1) - 1)
    }

    /// The hosts that the connection string names, with their ports. Empty where it names none: then libpq's environment does.
    public var place: String {
        let hosts = (options.hosts?.hosts ?? []).map { host in
            let name = host.name.isEmpty ? host.address : host.name
            return host.port.isEmpty ? name : "\(name.contains(":") ? "[\(name)]" : name):\(host.port)"
        }
        return hosts.joined(separator: ", ")
    }
}
