extension Setting {
    static let trustedProxies = Setting(
        "RELAY_TRUSTED_PROXIES", .addressRanges, group: .limits, readers: .front, example: "10.0.0.0/8, 2001:db8::/32",
        "proxies whose `X-Forwarded-For` is believed: for limits by address, and for the `ipAddress` that Cleeng gets if the app names none"
    )
    static let keyLimit = Setting(
        "RELAY_RATE_LIMIT_PER_KEY", .form("`RATE` or `RATE:BURST`, in requests a second and at once"), group: .limits,
        readers: .front, example: "200:2000",
        "[how often](operate.md#rate-limits) one key of the roles `app` and `publisher` may ask; above it 429. At once: ten times as many where it is left out"
    )
    static let addressLimit = Setting(
        "RELAY_RATE_LIMIT_PER_ADDRESS", .form("`RATE` or `RATE:BURST`, in requests a second and at once"),
        group: .limits, readers: .front, example: "20:200", "the same of one address, or of one /64 network by IPv6")
    static let maxBodyBytes = Setting(
        "RELAY_MAX_BODY_BYTES", .bytes(1_024...67_108_864), standard: "4194304", group: .limits, readers: .front,
        "of one request; above it 413")
    static let maxBodiesBytes = Setting(
        "RELAY_MAX_BODIES_BYTES", .bytes(1_048_576...17_179_869_184), standard: "134217728", group: .limits,
        readers: .front,
        "of all bodies that are being taken in, over all connections; above it 503 with `Retry-After`. Routes that need no key have an eighth of it besides. In memory a body costs up to three times its size until it is committed"
    )

    static let customerJWKSURL = Setting(
        "RELAY_CUSTOMER_JWKS_URL", .url, group: .customer, readers: .front,
        example: "https://id.example.com/.well-known/jwks.json",
        "a JSON Web Key Set; read when first needed, then every ten minutes, and when a token names an unknown key, at most every 30 seconds"
    )
    static let customerJWKSFile = Setting(
        "RELAY_CUSTOMER_JWKS_FILE", .path, group: .customer, readers: .front, example: "/etc/receipt-relay/jwks.json",
        "the same from a file")
    static let customerJWKSMaximumAge = Setting(
        "RELAY_CUSTOMER_JWKS_MAX_AGE_SECONDS", .seconds(1...86_400), standard: "3600", group: .customer,
        readers: .front,
        "how long the keys of `RELAY_CUSTOMER_JWKS_URL` stay valid while it cannot be fetched; a withdrawn key may work that long. After that, app calls get 503 with `Retry-After`"
    )
    static let customerIssuer = Setting(
        "RELAY_CUSTOMER_TOKEN_ISSUER", .text, group: .customer, readers: .front, example: "https://id.example.com/",
        "required `iss` of a token; without it any")
    static let customerAudience = Setting(
        "RELAY_CUSTOMER_TOKEN_AUDIENCE", .text, group: .customer, readers: .front, example: "com.example.app",
        "required `aud` of a token, or one of several; without it any")

    // Encryption, required TLS, and the trace collector.
    static let encryptionKeys = Setting(
        "RELAY_ENCRYPTION_KEYS", .form("keys of 32 bytes in Base64, comma-separated, 16 at most"), isSecret: true,
        group: .encryption, readers: .everything, example: "…",
        "the current one first, older ones that still open what it has not wrapped yet behind it; `receipt-relay encryption create-key` makes one"
    )

    static let requireTLS = Setting(
        "RELAY_REQUIRE_TLS", .choice(["false", "true"]), standard: "false", group: .limits, readers: .everything,
        "`true`: an `http` address of Cleeng, a store, a key set, a webhook endpoint, or a collector of traces that is given headers is refused, also one of this machine. The database's TLS is libpq's (`sslmode`)"
    )

    static let corsOrigins = Setting(
        "RELAY_CORS_ORIGINS", .form("`*`, or origins such as `https://shop.example.com`, comma-separated"),
        group: .limits, readers: .front, example: "https://shop.example.com, ionic://localhost",
        "web pages of which origins may call `/apple/payment`, `/entitlements` and the other routes of apps from a browser (CORS); `*` is any. Any page may call `/v1/validate`"
    )

    static let tracingEndpoint = Setting(
        "RELAY_TRACING_OTLP_ENDPOINT", .url, group: .tracing, readers: .service, example: "http://127.0.0.1:4318",
        "a collector that takes OTLP over HTTP; `/v1/traces` is appended. Without it no span is recorded")
    static let tracingHeaders = Setting(
        "RELAY_TRACING_OTLP_HEADERS", .form("`name=value`, comma-separated"), isSecret: true, group: .tracing,
        readers: .service, example: "authorization=Bearer …", "header fields for the collector")
    static let tracingSampleRatio = Setting(
        "RELAY_TRACING_SAMPLE_RATIO", .ratio, standard: "1", group: .tracing, readers: .front,
        "of the traces that begin here so many are recorded; for others the caller has decided")
    static let tracingServiceName = Setting(
        "RELAY_TRACING_SERVICE_NAME", .text, standard: "receipt-relay", group: .tracing, readers: .service,
        "`service.name` at the collector")
}
