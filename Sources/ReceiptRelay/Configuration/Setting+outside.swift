extension Setting {
    static let appleVerification = Setting(
        "RELAY_APPLE_VERIFICATION", .choice(["off", "observe", "enforce"]), standard: "observe", group: .apple,
        readers: .front,
        "whether receipts must be genuine: `observe` records and shows what is not, `enforce` answers it 422")
    static let appleBundleIDs = Setting(
        "RELAY_APPLE_BUNDLE_IDS", .form("bundle ids, comma-separated"), group: .apple, readers: .everything,
        example: "com.example.app, com.example.tv",
        "the apps whose receipts are taken for genuine; any where none are named")
    static let appleAppID = Setting(
        "RELAY_APPLE_APP_ID", .form("a number"), group: .apple, readers: .everything, example: "1234567890",
        "the app's number in the App Store; held against a production receipt that names one, any where it is left out")
    static let appleEnvironments = Setting(
        "RELAY_APPLE_ENVIRONMENTS", .form("some of `Production`, `Sandbox`, `Xcode`, `LocalTesting`, comma-separated"),
        standard: "Production,Sandbox", group: .apple, readers: .everything,
        "environments whose signatures are accepted; `Xcode` and `LocalTesting` only if listed")
    static let appleExtraRoots = Setting(
        "RELAY_APPLE_EXTRA_ROOTS", .form("paths of certificate files, DER or PEM, comma-separated"), group: .apple,
        readers: .everything, example: "/etc/receipt-relay/test-root.pem",
        "roots that are trusted beside Apple's own, for tests and StoreKit testing. Never in production")
    static let appleSharedSecret = Setting(
        "RELAY_APPLE_SHARED_SECRET", .text, isSecret: true, group: .apple, readers: .everything, example: "…",
        "the secret in version 1 notifications; without it they are refused")
    static let appleRenewalLeeway = Setting(
        "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS", .seconds(1...2_592_000), standard: "3600", group: .apple,
        readers: .everything,
        "how long after a period's end the relay waits for the renewal before it asks")
    static let appleAPIKey = Setting(
        "RELAY_APPLE_API_KEY", .form("the text of a `.p8` file"), isSecret: true, group: .apple, readers: .service,
        example: "…",
        "a key of App Store Connect (Users and Access, Integrations, In-App Purchase), by which the App Store itself is asked; with the next two, and `RELAY_APPLE_BUNDLE_IDS` must name your apps"
    )
    static let appleAPIKeyID = Setting(
        "RELAY_APPLE_API_KEY_ID", .form("an id"), group: .apple, readers: .service, example: "2X9R4HXF34",
        "which key it is")
    static let appleAPIIssuerID = Setting(
        "RELAY_APPLE_API_ISSUER_ID", .form("a UUID"), group: .apple, readers: .service,
        example: "57246542-96fe-1a63-e053-0824d011072a", "whose key it is")
    static let appleAPIURL = Setting(
        "RELAY_APPLE_API_URL", .url, standard: "https://api.storekit.apple.com", group: .apple, readers: .service,
        "where it is asked about production")
    static let appleAPISandboxURL = Setting(
        "RELAY_APPLE_API_SANDBOX_URL", .url, standard: "https://api.storekit-sandbox.apple.com", group: .apple,
        readers: .service, "where it is asked about the sandbox")
    static let appleHistoryInterval = Setting(
        "RELAY_APPLE_HISTORY_INTERVAL_SECONDS", .seconds(1...86_400), standard: "3600", group: .apple, readers: .worker,
        "between two times that missed notifications are asked for")
    static let appleRevocationInterval = Setting(
        "RELAY_APPLE_REVOCATION_SECONDS", .seconds(0...604_800), standard: "3600", group: .apple, readers: .service,
        "between two times that each process asks Apple whether the certificates that it verified lately were revoked; `0` asks nobody. The answer changes a metric and the log, no purchase"
    )
    static let appleOCSPURL = Setting(
        "RELAY_APPLE_OCSP_URL", .url, standard: "http://ocsp.apple.com", group: .apple, readers: .service,
        "URL for that question, in place of the host that the certificates name: a proxy of a closed network, or a simulator. The answers are signed, so `RELAY_REQUIRE_TLS` allows `http` here"
    )

    static let voidedSweep = Setting(
        "RELAY_VOIDED_SWEEP_SECONDS", .seconds(10...86_400), standard: "3600", group: .stores, readers: .worker,
        "between two times that Google's voided purchases are asked for, in case a notification was lost")
    static let storeRecheck = Setting(
        "RELAY_STORE_RECHECK_SECONDS", .seconds(10...604_800), standard: "86400", group: .stores, readers: .service,
        "time after which a store that lists no refunds is asked again about a purchase that gives access, and any other than Apple about one that does not simply renew: a notification may have been lost"
    )

    static let webhookURLs = Setting(
        "RELAY_WEBHOOK_URLS", .form("http or https URLs, comma-separated, 100 at most"), group: .webhook,
        readers: .worker, example: "https://shop.example.com/webhooks",
        "endpoints of publisher `main`, for all purchases; kept in step at each start of a worker")
    static let webhookPassword = Setting(
        "RELAY_WEBHOOK_PASSWORD", .form("one line of at most 1,024 bytes"), isSecret: true, isPublishersOwn: true,
        group: .webhook, readers: [.worker, .commands], example: "…",
        "stands in the body as `password`; left out where it is not set")
    static let webhookSecrets = Setting(
        "RELAY_WEBHOOK_SECRETS",
        .form("`whsec_` and base64 of at least 16 bytes (24 to 64 by the standard), comma-separated, 10 at most"),
        isSecret: true, isPublishersOwn: true, group: .webhook, readers: [.worker, .commands], example: "whsec_…",
        "each signs every message (Standard Webhooks); several while they change")
    static let webhookRetries = Setting(
        "RELAY_WEBHOOK_RETRY_SECONDS", .form("numbers from 0 to 2592000, comma-separated, 50 at most"),
        standard: "5,30,120,600,3600,10800,21600,43200,86400", group: .webhook, readers: .worker,
        "pauses after tries that failed, each ±20 %; after the last try a message is given up")
    static let webhookTimeout = Setting(
        "RELAY_WEBHOOK_TIMEOUT_SECONDS", .seconds(0.1...120), standard: "15", group: .webhook,
        readers: [.worker, .commands], "for one try, looking up the name included")
    static let webhookAllowNetworks = Setting(
        "RELAY_WEBHOOK_ALLOW_NETWORKS", .addressRanges, group: .webhook, readers: .everything,
        example: "10.0.0.0/8",
        "private networks that webhooks and SNS's certificates may come from or go to; without it none"
    )
}
