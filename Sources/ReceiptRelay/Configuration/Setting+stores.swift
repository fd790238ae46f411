extension Setting {
    static let appleVerification = Setting(
        name: "RELAY_APPLE_VERIFICATION", kind: .choice(["off", "observe", "enforce"]), standard: "observe",
        group: .apple, readers: .front,
        meaning:
            "whether receipts must be genuine: `observe` records and shows what is not, `enforce` answers it 422")
    static let appleBundleIDs = Setting(
        name: "RELAY_APPLE_BUNDLE_IDS", kind: .form("bundle ids, comma-separated"), standard: nil, group: .apple,
        readers: .everything, example: "com.example.app, com.example.tv",
        meaning: "the apps whose receipts are taken for genuine; any where none are named")
    static let appleAppID = Setting(
        name: "RELAY_APPLE_APP_ID", kind: .form("a number"), standard: nil, group: .apple, readers: .everything,
        example: "1234567890",
        meaning:
            "the app's number in the App Store; held against a production receipt that names one, any where it is left out"
    )
    static let appleEnvironments = Setting(
        name: "RELAY_APPLE_ENVIRONMENTS",
        kind: .form("some of `Production`, `Sandbox`, `Xcode`, `LocalTesting`, comma-separated"),
        standard: "Production,Sandbox", group: .apple, readers: .everything,
        meaning: "what may be genuine; `Xcode` and `LocalTesting` only where listed")
    static let appleExtraRoots = Setting(
        name: "RELAY_APPLE_EXTRA_ROOTS", kind: .form("paths of certificate files, DER or PEM, comma-separated"),
        standard: nil, group: .apple, readers: .everything, example: "/etc/receipt-relay/test-root.pem",
        meaning: "roots that are trusted beside Apple's own, for tests and StoreKit testing. Never in production")
    static let appleSharedSecret = Setting(
        name: "RELAY_APPLE_SHARED_SECRET", kind: .text, standard: nil, isSecret: true, group: .apple,
        readers: .everything, example: "…", meaning: "what version 1 notifications carry; without it they are refused")
    static let appleRenewalLeeway = Setting(
        name: "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS", kind: .seconds(1...2_592_000), standard: "3600", group: .apple,
        readers: .everything,
        meaning: "how long after its end a subscription that will renew is waited for before it is asked about")
    static let appleAPIKey = Setting(
        name: "RELAY_APPLE_API_KEY", kind: .form("the text of a `.p8` file"), standard: nil, isSecret: true,
        group: .apple, readers: .service, example: "…",
        meaning:
            "a key of App Store Connect (Users and Access, Integrations, In-App Purchase), by which the App Store itself is asked; with the next two, and `RELAY_APPLE_BUNDLE_IDS` must name your apps"
    )
    static let appleAPIKeyID = Setting(
        name: "RELAY_APPLE_API_KEY_ID", kind: .form("an id"), standard: nil, group: .apple, readers: .service,
        example: "2X9R4HXF34", meaning: "which key it is")
    static let appleAPIIssuerID = Setting(
        name: "RELAY_APPLE_API_ISSUER_ID", kind: .form("a UUID"), standard: nil, group: .apple, readers: .service,
        example: "57246542-96fe-1a63-e053-0824d011072a", meaning: "whose key it is")
    static let appleAPIURL = Setting(
        name: "RELAY_APPLE_API_URL", kind: .url, standard: "https://api.storekit.apple.com", group: .apple,
        readers: .service, meaning: "where it is asked about production")
    static let appleAPISandboxURL = Setting(
        name: "RELAY_APPLE_API_SANDBOX_URL", kind: .url, standard: "https://api.storekit-sandbox.apple.com",
        group: .apple, readers: .service, meaning: "where it is asked about the sandbox")
    static let appleHistoryInterval = Setting(
        name: "RELAY_APPLE_HISTORY_INTERVAL_SECONDS", kind: .seconds(1...86_400), standard: "3600", group: .apple,
        readers: .worker, meaning: "between two times that missed notifications are asked for")

    static let googleServiceAccountFile = Setting(
        name: "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE", kind: .path, standard: nil, isPublishersOwn: true, group: .google,
        readers: .service, example: "/run/secrets/google_service_account.json",
        meaning:
            "the key file (JSON) of a service account of Google Cloud that the Play Console lets see the apps' financial data"
    )
    static let googleAPIURL = Setting(
        name: "RELAY_GOOGLE_API_URL", kind: .url, standard: "https://androidpublisher.googleapis.com",
        group: .google, readers: .service, meaning: "where the Play Developer API is")
    static let googleTokenURL = Setting(
        name: "RELAY_GOOGLE_TOKEN_URL", kind: .url, standard: "https://oauth2.googleapis.com/token", group: .google,
        readers: .service,
        meaning: "where tokens are given out; also who the account's signature is for, whatever the file says")

    static let amazonSharedSecret = Setting(
        name: "RELAY_AMAZON_SHARED_SECRET", kind: .form("1 to 512 visible ASCII characters"), standard: nil,
        isSecret: true, isPublishersOwn: true, group: .amazon, readers: .service, example: "…",
        meaning:
            "the developer's shared secret. It is a part of the path that is asked, so a proxy in between must not log paths"
    )
    static let amazonRVSURL = Setting(
        name: "RELAY_AMAZON_RVS_URL", kind: .url, standard: "https://appstore-sdk.amazon.com", group: .amazon,
        readers: .service,
        meaning: "where; `https://appstore-sdk.amazon.com/sandbox` for receipts of the App Tester")
}
