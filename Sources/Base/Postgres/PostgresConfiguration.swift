/// Address of a server, with limits for its use.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection string, either `host=… dbname=…` or `postgresql://…`. Several hosts, TLS, service and
    /// password files work as in the libpq manual. Its values of `target_session_attrs`, `connect_timeout`,
    /// `keepalives…` and `tcp_user_timeout`, or those of libpq's environment, override this library's defaults. By
    /// default only a writable server is accepted, and an unreachable one is given up soon. Values of a service file
    /// for these options do not count.
    public var connectionString: String
    /// The `application_name` if the connection string gives none.
    public var applicationName: String?
    /// Pipelined connections for single statements. At least 1.
    public var sharedConnections = 4
    /// Statements in flight on one shared connection. At least 1.
    public var pipelineDepth = 32
    /// Connections for transactions, one at a time on each. At least 1.
    public var exclusiveConnections = 2
    /// Limit of waiting calls in each lane; one more fails as ``PostgresError/Code/overloaded``.
    public var maxWaiting = 4096
    /// Timeout if there is only one host. libpq counts whole seconds, and treats 1 as 2.
    public var connectTimeout: Duration = .seconds(5)
    /// Timeout for each of several hosts: a dead one must not cost much.
    public var failoverConnectTimeout: Duration = .seconds(3)
    /// After this time, a connection whose peer acknowledges nothing is closed: a machine without power or network.
    /// Must exceed ``queryTimeout``, because Linux also counts time in which a busy server does not read.
    public var unreachableAfter: Duration = .seconds(12)
    /// Deadline of a call that states none.
    public var queryTimeout: Duration = .seconds(10)
    /// Time after which the server ends a statement on a shared connection (`statement_timeout`), so that abandoned
    /// ones do not run on. It also limits the deadline of a call. A server that has not done this five seconds later
    /// counts as dead. Not set if ``preparesStatements`` is false, because the session is then a pooler's: give the
    /// role a `statement_timeout` instead.
    public var statementTimeout: Duration = .seconds(15)
    /// Time after which the server ends a transaction whose client is idle (`idle_in_transaction_session_timeout`). Not
    /// set if ``preparesStatements`` is false.
    public var idleInTransactionTimeout: Duration = .seconds(60)
    /// Server parameters set at the start of each session: names and values as in `SET`, from the program only. Not set
    /// if ``preparesStatements`` is false.
    public var sessionParameters: [String: String] = [:]
    /// How long a call waits for a connection while none is up.
    public var connectionWait: Duration = .seconds(2)
    public var backoff = Backoff()
    /// False sends every statement unnamed, as required by a pooler in transaction mode (PgBouncer).
    public var preparesStatements = true
    /// Maximum age of a session's first plans, and of any plan. Between these bounds, a plan made by a session of a
    /// given age is kept for that age. Ignored if ``preparesStatements`` is false.
    public var planAge: ClosedRange<Duration> = .seconds(5) ... .seconds(300)
    /// Seals private values.
    public var vault: any PostgresVault = NoVault()

    public init(connectionString: String) {
        self.connectionString = connectionString
    }

    /// Pauses between tries to connect.
    public struct Backoff: Sendable, Hashable {
        /// Pause after the first failure, before jitter.
        public var initial: Duration = .milliseconds(100)
        /// Limit of the pause, which doubles with each failure.
        public var max: Duration = .seconds(3)

        public init() {}
    }
}

extension PostgresConfiguration {
    /// Error of ``connectionString`` as libpq parses it; nil if it is valid. Does not check whether a server can be
    /// reached.
    public var connectionStringError: PostgresError? { ConnectionString.error(in: connectionString) }

    private var options: ConnectionOptions {
        ConnectionOptions(self, hasInEnvironment: PostgresConnector.hasInEnvironment)
    }

    /// Time until the last of several hosts is tried if all others are dead; zero for one host.
    public var failoverTime: Duration {
        .seconds(options.connectTimeout) * ((options.hosts?.hosts.count ?? 1) - 1)
    }
}
