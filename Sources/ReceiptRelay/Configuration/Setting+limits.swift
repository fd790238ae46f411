extension Setting {
    static let trustedProxies = Setting(
        name: "RELAY_TRUSTED_PROXIES", kind: .addressRanges, standard: nil, group: .limits, readers: .front,
        example: "10.0.0.0/8, 2001:db8::/32",
        meaning:
            "whose `X-Forwarded-For` counts: for limits by address, and for the `ipAddress` that Cleeng is sent where the app names none"
    )
    static let keyLimit = Setting(
        name: "RELAY_RATE_LIMIT_PER_KEY", kind: .form("`RATE` or `RATE:BURST`, in requests a second and at once"),
        standard: nil, group: .limits, readers: .front, example: "200:2000",
        meaning:
            "[how often](operate.md#rate-limits) one key of the roles `app` and `publisher` may ask; above it 429. At once: ten times as many where it is left out"
    )
    static let addressLimit = Setting(
        name: "RELAY_RATE_LIMIT_PER_ADDRESS", kind: .form("`RATE` or `RATE:BURST`, in requests a second and at once"),
        standard: nil, group: .limits, readers: .front, example: "20:200",
        meaning: "the same of one address, or of one /64 network by IPv6")
    static let maxBodyBytes = Setting(
        name: "RELAY_MAX_BODY_BYTES", kind: .bytes(1_024...67_108_864), standard: "4194304", group: .limits,
        readers: .front, meaning: "of one request; above it 413")
    static let maxBodiesBytes = Setting(
        name: "RELAY_MAX_BODIES_BYTES", kind: .bytes(1_048_576...17_179_869_184), standard: "134217728",
        group: .limits, readers: .front,
        meaning:
            "of all bodies that are being taken in, over all connections; above it 503 with `Retry-After`. Routes that need no key have an eighth of it besides. In memory a body costs up to three times its size until it is committed"
    )

    static let customerJWKSURL = Setting(
        name: "RELAY_CUSTOMER_JWKS_URL", kind: .url, standard: nil, group: .customer, readers: .front,
        example: "https://id.example.com/.well-known/jwks.json",
        meaning:
            "a JSON Web Key Set; read when first needed, then every ten minutes, and when a token names an unknown key, at most every 30 seconds"
    )
    static let customerJWKSFile = Setting(
        name: "RELAY_CUSTOMER_JWKS_FILE", kind: .path, standard: nil, group: .customer, readers: .front,
        example: "/etc/receipt-relay/jwks.json", meaning: "the same from a file")
    static let customerJWKSMaximumAge = Setting(
        name: "RELAY_CUSTOMER_JWKS_MAX_AGE_SECONDS", kind: .seconds(1...86_400), standard: "3600", group: .customer,
        readers: .front,
        meaning:
            "how long the keys of `RELAY_CUSTOMER_JWKS_URL` are trusted while it cannot be fetched: so long a withdrawn key may still serve. After it app calls are answered 503 with `Retry-After`"
    )
    static let customerIssuer = Setting(
        name: "RELAY_CUSTOMER_TOKEN_ISSUER", kind: .text, standard: nil, group: .customer, readers: .front,
        example: "https://id.example.com/", meaning: "what `iss` of a token must be; without it nobody looks")
    static let customerAudience = Setting(
        name: "RELAY_CUSTOMER_TOKEN_AUDIENCE", kind: .text, standard: nil, group: .customer, readers: .front,
        example: "com.example.app", meaning: "what `aud` of a token must be or hold; without it nobody looks")
}
