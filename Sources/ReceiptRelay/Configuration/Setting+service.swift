extension Setting {
    static let databaseURL = Setting(
        "RELAY_DATABASE_URL", .form("a libpq connection string or URI"), isSecret: true, isRequired: true,
        group: .database, readers: .everything, example: "postgresql://relay@db1,db2/relay",
        "the database's URL; several hosts, TLS, service and password files as libpq takes them. Of several hosts the relay uses the one that takes writes"
    )
    static let databaseConnections = Setting(
        "RELAY_DATABASE_CONNECTIONS", .count(1...64), standard: "4", group: .database, readers: .service,
        "connections that statements share, pipelined; two more are kept for transactions")
    static let preparedStatements = Setting(
        "RELAY_DATABASE_PREPARED_STATEMENTS", .choice(["on", "off"]), standard: "on", group: .database,
        readers: .everything, "`off` behind PgBouncer in transaction mode: see [deploy.md](deploy.md#pgbouncer)")

    static let httpHost = Setting(
        "RELAY_HTTP_HOST", .form("an address or a host name"), standard: "0.0.0.0", group: .http, readers: .front,
        "what it listens on")
    static let httpPort = Setting(
        "RELAY_HTTP_PORT", .port, standard: "8080", group: .http, readers: .front,
        "the port of apps, publishers, the App Store and Cleeng")
    static let opsHost = Setting(
        "RELAY_OPS_HOST", .form("an address or a host name"), standard: "127.0.0.1", group: .ops, readers: .everything,
        "what it listens on; `receipt-relay healthcheck` asks there")
    static let opsPort = Setting(
        "RELAY_OPS_PORT", .port, standard: "9090", group: .ops, readers: .everything,
        "the port of the console, the ops API, `/metrics`, `/healthz` and `/readyz`")

    static let pollInterval = Setting(
        "RELAY_POLL_INTERVAL_SECONDS", .seconds(0.05...300), standard: "5", group: .pursuit, readers: .service,
        "between two entitlement reads of a customer, and the `Retry-After` that apps get (whole seconds, rounded up)")
    static let validationTimeout = Setting(
        "RELAY_VALIDATION_TIMEOUT_SECONDS", .seconds(0.1...3600), standard: "60", group: .pursuit, readers: .front,
        "from acceptance until a poll answers `timed_out`")
    static let reconcileHours = Setting(
        "RELAY_RECONCILE_HOURS", .hours(0...8760), standard: "24", group: .pursuit, readers: .worker,
        "how long a timed-out validation is still watched for a late grant, at doubling gaps of an hour at most")
    static let upstreamTimeout = Setting(
        "RELAY_UPSTREAM_TIMEOUT_SECONDS", .seconds(0.1...120), standard: "20", group: .pursuit, readers: .service,
        "for one call to Cleeng or the App Store; of another store never more than 5")

    static let retentionDays = Setting(
        "RELAY_RETENTION_DAYS", .count(0...36_500), standard: "400", group: .retention, readers: .everything,
        "days that purchases are kept; 0: for ever")
    static let receiptRetentionDays = Setting(
        "RELAY_RECEIPT_RETENTION_DAYS", .count(0...36_500), standard: "90", group: .retention, readers: .everything,
        "days that receipts are kept, never longer than the rest; 0: as long. A purchase without its receipt cannot be retried, except by StoreKit 2, which needs none"
    )
    static let transferPolicy = Setting(
        "RELAY_TRANSFER_POLICY", .choice(["move", "refuse", "require-token"]), standard: "move", group: .pursuit,
        readers: .front,
        "who may [take a subscription over](operate.md#who-may-take-a-subscription-over) that another customer has: whoever sends the purchase; nobody while it runs; the customer whose account token the purchase carries"
    )
    static let accountTokenNamespace = Setting(
        "RELAY_ACCOUNT_TOKEN_NAMESPACE", .form("a UUID"), group: .pursuit, readers: .front,
        example: "2ed6657d-e927-568b-95e1-2665a8aea6a2",
        "in which account tokens are made of usernames that are no UUIDs (version 5); the publisher's own namespace where it is left out"
    )
    static let publishersFile = Setting(
        "RELAY_PUBLISHERS_FILE", .path, group: .publishers, readers: .everything,
        example: "/etc/receipt-relay/publishers.yaml",
        "[publishers that have an account of their own](operate.md#several-publishers): YAML or JSON, 1 MiB at most")
    static let logLevel = Setting(
        "RELAY_LOG_LEVEL", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
        standard: "info", group: .log, readers: .service, "from which level on [a line is written](operate.md#logs)")
}
