/// What is sealed, what is called by TLS alone, and what is told to a collector.
extension Setting {
    static let encryptionKeys = Setting(
        name: "RELAY_ENCRYPTION_KEYS", kind: .form("keys of 32 bytes in Base64, comma-separated, 16 at most"),
        standard: nil, isSecret: true, group: .encryption, readers: .everything, example: "…",
        meaning:
            "the current one first, older ones that still open what it has not wrapped yet behind it; `receipt-relay encryption create-key` makes one"
    )

    static let requireTLS = Setting(
        name: "RELAY_REQUIRE_TLS", kind: .choice(["false", "true"]), standard: "false", group: .limits,
        readers: .everything,
        meaning:
            "`true`: an `http` address of Cleeng, a store, a key set, a webhook endpoint, or a collector of traces that is given headers is refused, also one of this machine. The database's TLS is libpq's (`sslmode`)"
    )

    static let tracingEndpoint = Setting(
        name: "RELAY_TRACING_OTLP_ENDPOINT", kind: .url, standard: nil, group: .tracing, readers: .service,
        example: "http://127.0.0.1:4318",
        meaning: "a collector that takes OTLP over HTTP; `/v1/traces` is appended. Without it no span is recorded")
    static let tracingHeaders = Setting(
        name: "RELAY_TRACING_OTLP_HEADERS", kind: .form("`name=value`, comma-separated"), standard: nil,
        isSecret: true, group: .tracing, readers: .service, example: "authorization=Bearer …",
        meaning: "header fields for the collector")
    static let tracingSampleRatio = Setting(
        name: "RELAY_TRACING_SAMPLE_RATIO", kind: .ratio, standard: "1", group: .tracing, readers: .front,
        meaning: "of the traces that begin here so many are recorded; for others the caller has decided")
    static let tracingServiceName = Setting(
        name: "RELAY_TRACING_SERVICE_NAME", kind: .text, standard: "receipt-relay", group: .tracing,
        readers: .service, meaning: "`service.name` at the collector")
}
