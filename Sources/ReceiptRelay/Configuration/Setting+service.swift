extension Setting {
    static let databaseURL = Setting(
        name: "RELAY_DATABASE_URL", kind: .form("a libpq connection string or URI"), standard: nil, isSecret: true,
        isRequired: true, group: .database, readers: .everything, example: "postgresql://relay@db1,db2/relay",
        meaning:
            "where the database is; several hosts, TLS, service and password files as libpq takes them. Of several hosts the one that takes writes"
    )
    static let databaseConnections = Setting(
        name: "RELAY_DATABASE_CONNECTIONS", kind: .count(1...64), standard: "4", group: .database, readers: .service,
        meaning: "connections that statements share, pipelined; two more are kept for transactions")
    static let preparedStatements = Setting(
        name: "RELAY_DATABASE_PREPARED_STATEMENTS", kind: .choice(["on", "off"]), standard: "on", group: .database,
        readers: .everything,
        meaning: "`off` behind PgBouncer in transaction mode: see [deploy.md](deploy.md#pgbouncer)")

    static let httpHost = Setting(
        name: "RELAY_HTTP_HOST", kind: .form("an address or a host name"), standard: "0.0.0.0", group: .http,
        readers: .front, meaning: "what it listens on")
    static let httpPort = Setting(
        name: "RELAY_HTTP_PORT", kind: .port, standard: "8080", group: .http, readers: .front,
        meaning: "the port of apps, publishers, the App Store and Cleeng")
    static let opsHost = Setting(
        name: "RELAY_OPS_HOST", kind: .form("an address or a host name"), standard: "127.0.0.1", group: .ops,
        readers: .everything, meaning: "what it listens on; `receipt-relay healthcheck` asks there")
    static let opsPort = Setting(
        name: "RELAY_OPS_PORT", kind: .port, standard: "9090", group: .ops, readers: .everything,
        meaning: "the port of the console, the ops API, `/metrics`, `/healthz` and `/readyz`")

    static let pollInterval = Setting(
        name: "RELAY_POLL_INTERVAL_SECONDS", kind: .seconds(0.05...300), standard: "5", group: .pursuit,
        readers: .service,
        meaning:
            "between two entitlement reads of a customer, and the `Retry-After` that apps get (whole seconds, rounded up)"
    )
    static let validationTimeout = Setting(
        name: "RELAY_VALIDATION_TIMEOUT_SECONDS", kind: .seconds(0.1...3600), standard: "60", group: .pursuit,
        readers: .front, meaning: "after which an app is told that it failed")
    static let reconcileHours = Setting(
        name: "RELAY_RECONCILE_HOURS", kind: .hours(0...8760), standard: "24", group: .pursuit, readers: .worker,
        meaning:
            "how long a timed-out validation is still watched for a late grant, at doubling gaps of an hour at most")
    static let upstreamTimeout = Setting(
        name: "RELAY_UPSTREAM_TIMEOUT_SECONDS", kind: .seconds(0.1...120), standard: "20", group: .pursuit,
        readers: .service,
        meaning: "for one call to Cleeng or the App Store; of Google Play and the Amazon Appstore never more than 5")

    static let retentionDays = Setting(
        name: "RELAY_RETENTION_DAYS", kind: .count(0...36_500), standard: "400", group: .retention,
        readers: .everything, meaning: "how many days what was accepted is kept; 0 for ever")
    static let receiptRetentionDays = Setting(
        name: "RELAY_RECEIPT_RETENTION_DAYS", kind: .count(0...36_500), standard: "90", group: .retention,
        readers: .everything,
        meaning:
            "how many days the receipts themselves are kept, never longer than the rest; 0: as long. Without its receipt a purchase cannot be retried, but by StoreKit 2, which needs none"
    )
    static let publishersFile = Setting(
        name: "RELAY_PUBLISHERS_FILE", kind: .path, standard: nil, group: .publishers, readers: .everything,
        example: "/etc/receipt-relay/publishers.yaml",
        meaning:
            "[publishers that have an account of their own](operate.md#several-publishers): YAML or JSON, 1 MiB at most"
    )
    static let logLevel = Setting(
        name: "RELAY_LOG_LEVEL",
        kind: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), standard: "info",
        group: .log, readers: .service, meaning: "from which level on [a line is written](operate.md#logs)")
}
