/// One key of the configuration. ``all`` is the whole list: what is not in it stops the start, and a test holds the example
/// file against it.
struct Setting: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case text
        case port
        /// Seconds, fractions allowed, within the range.
        case seconds(ClosedRange<Double>)
        case hours(ClosedRange<Double>)
        case bytes(ClosedRange<Int>)
        case count(ClosedRange<Int>)
        case url
        /// 0 to 1.
        case ratio
        case choice([String])
        case addressRanges
        case path
    }

    let name: String
    let kind: Kind
    let standard: String?
    var isSecret = false
    var isRequired = false
    /// Says who a publisher is, or opens something for it: a publisher of ``publishersFile`` never gets another one's.
    var isPublishersOwn = false

    /// `RELAY_HTTP_PORT` is `relay.http.port` for the configuration library and `http.port` in a file.
    var key: [String] { name.lowercased().split(separator: "_").map(String.init) }

    static let prefix = "RELAY_"

    static let databaseURL = Setting(
        name: "RELAY_DATABASE_URL", kind: .text, standard: nil, isSecret: true, isRequired: true)
    static let databaseConnections = Setting(
        name: "RELAY_DATABASE_CONNECTIONS", kind: .count(1...64), standard: "4")
    static let preparedStatements = Setting(
        name: "RELAY_DATABASE_PREPARED_STATEMENTS", kind: .choice(["on", "off"]), standard: "on")
    static let httpHost = Setting(name: "RELAY_HTTP_HOST", kind: .text, standard: "0.0.0.0")
    static let httpPort = Setting(name: "RELAY_HTTP_PORT", kind: .port, standard: "8080")
    static let opsHost = Setting(name: "RELAY_OPS_HOST", kind: .text, standard: "127.0.0.1")
    static let opsPort = Setting(name: "RELAY_OPS_PORT", kind: .port, standard: "9090")
    static let publisherToken = Setting(
        name: "RELAY_CLEENG_PUBLISHER_TOKEN", kind: .text, standard: nil, isSecret: true, isRequired: true,
        isPublishersOwn: true)
    static let publisherID = Setting(
        name: "RELAY_CLEENG_PUBLISHER_ID", kind: .text, standard: nil, isPublishersOwn: true)
    static let paymentURL = Setting(
        name: "RELAY_CLEENG_PAYMENT_URL", kind: .url, standard: "https://api.sandbox.cleeng.com")
    static let apiURL = Setting(name: "RELAY_CLEENG_API_URL", kind: .url, standard: "https://api.sandbox.cleeng.com")
    static let entitlementSource = Setting(
        name: "RELAY_CLEENG_ENTITLEMENT_SOURCE", kind: .choice(["entitlements", "accessible-tags"]),
        standard: "entitlements")
    static let driver = Setting(
        name: "RELAY_CLEENG_DRIVER", kind: .choice(["auto", "receipt", "storekit2"]), standard: "auto")
    static let storeKit2URL = Setting(
        name: "RELAY_CLEENG_STOREKIT2_URL", kind: .url, standard: "https://inapp.api.sandbox.cleeng.com")
    static let notificationURL = Setting(
        name: "RELAY_CLEENG_NOTIFICATION_URL", kind: .text,
        standard:
            "https://notification.cleeng.com/1.0/in_app/subscriptions/apple/status_update_notification/{publisherId}")
    static let webhookSecret = Setting(
        name: "RELAY_CLEENG_WEBHOOK_SECRET", kind: .text, standard: nil, isSecret: true, isPublishersOwn: true)
    static let webhookSignatureHeader = Setting(
        name: "RELAY_CLEENG_WEBHOOK_SIGNATURE_HEADER", kind: .text, standard: "X-Cleeng-Signature")
    static let webhookSignatureEncoding = Setting(
        name: "RELAY_CLEENG_WEBHOOK_SIGNATURE_ENCODING", kind: .choice(["hex", "base64"]), standard: "hex")
    static let tagsFile = Setting(name: "RELAY_CLEENG_TAGS_FILE", kind: .path, standard: nil)
    static let maxConcurrentCalls = Setting(
        name: "RELAY_CLEENG_MAX_CONCURRENT_CALLS", kind: .count(1...1_000), standard: "64")
    static let pollInterval = Setting(
        name: "RELAY_POLL_INTERVAL_SECONDS", kind: .seconds(0.05...300), standard: "5")
    static let validationTimeout = Setting(
        name: "RELAY_VALIDATION_TIMEOUT_SECONDS", kind: .seconds(0.1...3600), standard: "60")
    static let reconcileHours = Setting(name: "RELAY_RECONCILE_HOURS", kind: .hours(0...8760), standard: "24")
    static let upstreamTimeout = Setting(
        name: "RELAY_UPSTREAM_TIMEOUT_SECONDS", kind: .seconds(0.1...120), standard: "20")
    static let trustedProxies = Setting(name: "RELAY_TRUSTED_PROXIES", kind: .addressRanges, standard: nil)
    static let keyLimit = Setting(name: "RELAY_RATE_LIMIT_PER_KEY", kind: .text, standard: nil)
    static let addressLimit = Setting(name: "RELAY_RATE_LIMIT_PER_ADDRESS", kind: .text, standard: nil)
    static let maxBodyBytes = Setting(
        name: "RELAY_MAX_BODY_BYTES", kind: .bytes(1_024...67_108_864), standard: "4194304")
    static let maxBodiesBytes = Setting(
        name: "RELAY_MAX_BODIES_BYTES", kind: .bytes(1_048_576...17_179_869_184), standard: "134217728")
    static let customerJWKSURL = Setting(name: "RELAY_CUSTOMER_JWKS_URL", kind: .url, standard: nil)
    static let customerJWKSFile = Setting(name: "RELAY_CUSTOMER_JWKS_FILE", kind: .path, standard: nil)
    static let appleVerification = Setting(
        name: "RELAY_APPLE_VERIFICATION", kind: .choice(["off", "observe", "enforce"]), standard: "observe")
    static let appleBundleIDs = Setting(name: "RELAY_APPLE_BUNDLE_IDS", kind: .text, standard: nil)
    static let appleAppID = Setting(name: "RELAY_APPLE_APP_ID", kind: .text, standard: nil)
    static let appleEnvironments = Setting(
        name: "RELAY_APPLE_ENVIRONMENTS", kind: .text, standard: "Production,Sandbox")
    static let appleExtraRoots = Setting(name: "RELAY_APPLE_EXTRA_ROOTS", kind: .text, standard: nil)
    static let appleSharedSecret = Setting(
        name: "RELAY_APPLE_SHARED_SECRET", kind: .text, standard: nil, isSecret: true)
    static let appleRenewalLeeway = Setting(
        name: "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS", kind: .seconds(1...2_592_000), standard: "3600")
    static let appleAPIKey = Setting(name: "RELAY_APPLE_API_KEY", kind: .text, standard: nil, isSecret: true)
    static let appleAPIKeyID = Setting(name: "RELAY_APPLE_API_KEY_ID", kind: .text, standard: nil)
    static let appleAPIIssuerID = Setting(name: "RELAY_APPLE_API_ISSUER_ID", kind: .text, standard: nil)
    static let appleAPIURL = Setting(
        name: "RELAY_APPLE_API_URL", kind: .url, standard: "https://api.storekit.apple.com")
    static let appleAPISandboxURL = Setting(
        name: "RELAY_APPLE_API_SANDBOX_URL", kind: .url, standard: "https://api.storekit-sandbox.apple.com")
    static let appleHistoryInterval = Setting(
        name: "RELAY_APPLE_HISTORY_INTERVAL_SECONDS", kind: .seconds(1...86_400), standard: "3600")
    static let googleServiceAccountFile = Setting(
        name: "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE", kind: .path, standard: nil, isPublishersOwn: true)
    static let googleAPIURL = Setting(
        name: "RELAY_GOOGLE_API_URL", kind: .url, standard: "https://androidpublisher.googleapis.com")
    static let googleTokenURL = Setting(
        name: "RELAY_GOOGLE_TOKEN_URL", kind: .url, standard: "https://oauth2.googleapis.com/token")
    static let amazonSharedSecret = Setting(
        name: "RELAY_AMAZON_SHARED_SECRET", kind: .text, standard: nil, isSecret: true, isPublishersOwn: true)
    static let amazonRVSURL = Setting(
        name: "RELAY_AMAZON_RVS_URL", kind: .url, standard: "https://appstore-sdk.amazon.com")
    static let retentionDays = Setting(name: "RELAY_RETENTION_DAYS", kind: .count(0...36_500), standard: "400")
    static let receiptRetentionDays = Setting(
        name: "RELAY_RECEIPT_RETENTION_DAYS", kind: .count(0...36_500), standard: "90")
    static let webhookURLs = Setting(name: "RELAY_WEBHOOK_URLS", kind: .text, standard: nil)
    static let webhookPassword = Setting(
        name: "RELAY_WEBHOOK_PASSWORD", kind: .text, standard: nil, isSecret: true, isPublishersOwn: true)
    static let webhookSecrets = Setting(
        name: "RELAY_WEBHOOK_SECRETS", kind: .text, standard: nil, isSecret: true, isPublishersOwn: true)
    static let webhookRetries = Setting(
        name: "RELAY_WEBHOOK_RETRY_SECONDS", kind: .text,
        standard: "5,30,120,600,3600,10800,21600,43200,86400")
    static let webhookTimeout = Setting(
        name: "RELAY_WEBHOOK_TIMEOUT_SECONDS", kind: .seconds(0.1...120), standard: "15")
    static let webhookAllowNetworks = Setting(
        name: "RELAY_WEBHOOK_ALLOW_NETWORKS", kind: .addressRanges, standard: nil)
    static let publishersFile = Setting(name: "RELAY_PUBLISHERS_FILE", kind: .path, standard: nil)
    static let encryptionKeys = Setting(
        name: "RELAY_ENCRYPTION_KEYS", kind: .text, standard: nil, isSecret: true)
    static let tracingEndpoint = Setting(name: "RELAY_TRACING_OTLP_ENDPOINT", kind: .url, standard: nil)
    static let tracingHeaders = Setting(
        name: "RELAY_TRACING_OTLP_HEADERS", kind: .text, standard: nil, isSecret: true)
    static let tracingSampleRatio = Setting(name: "RELAY_TRACING_SAMPLE_RATIO", kind: .ratio, standard: "1")
    static let tracingServiceName = Setting(
        name: "RELAY_TRACING_SERVICE_NAME", kind: .text, standard: "receipt-relay")
    static let logLevel = Setting(
        name: "RELAY_LOG_LEVEL",
        kind: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), standard: "info")

    static let all: [Setting] = [
        databaseURL, databaseConnections, preparedStatements, httpHost, httpPort, opsHost, opsPort, publisherToken,
        publisherID, paymentURL, apiURL, entitlementSource, driver, storeKit2URL, tagsFile, pollInterval,
        validationTimeout, reconcileHours,
        upstreamTimeout, trustedProxies, keyLimit, addressLimit, maxBodyBytes, maxBodiesBytes, customerJWKSURL,
        customerJWKSFile, logLevel,
        maxConcurrentCalls, retentionDays, receiptRetentionDays, appleVerification, appleBundleIDs, appleAppID,
        appleEnvironments, appleExtraRoots, appleSharedSecret, appleRenewalLeeway, appleAPIKey, appleAPIKeyID,
        appleAPIIssuerID, appleAPIURL,
        appleAPISandboxURL, appleHistoryInterval, googleServiceAccountFile, googleAPIURL, googleTokenURL,
        amazonSharedSecret, amazonRVSURL, notificationURL,
        webhookSecret, webhookSignatureHeader, webhookSignatureEncoding,
        webhookURLs, webhookPassword, webhookSecrets, webhookRetries, webhookTimeout, webhookAllowNetworks,
        publishersFile, encryptionKeys, tracingEndpoint, tracingHeaders, tracingSampleRatio, tracingServiceName,
    ]

    /// What may stand in the file that ``publishersFile`` names.
    static let ofPublishers: [Setting] =
        all.filter(\.isPublishersOwn) + [
            paymentURL, apiURL, storeKit2URL, entitlementSource, tagsFile, notificationURL, webhookSignatureHeader,
            webhookSignatureEncoding, googleAPIURL, googleTokenURL, amazonRVSURL,
        ]
}
