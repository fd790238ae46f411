import RelayCore

extension Setting {
    static let publisherToken = Setting(
        "RELAY_CLEENG_PUBLISHER_TOKEN", .form("1 to 512 visible ASCII characters"), isSecret: true, isRequired: true,
        isPublishersOwn: true, group: .cleeng, readers: .everything, example: "…",
        "sent upstream as `X-Publisher-Token`; appears nowhere else. Every role of `serve` wants it")
    static let publisherID = Setting(
        "RELAY_CLEENG_PUBLISHER_ID", .form("letters, digits, `-` and `_`"), isPublishersOwn: true, group: .cleeng,
        readers: .everything, example: "123456789",
        "stands for `{publisherId}` in `RELAY_CLEENG_NOTIFICATION_URL`; without it no notification is passed on, with one warning at the start"
    )
    static let cleengEnvironment = Setting(
        "RELAY_CLEENG_ENVIRONMENT", .choice(CleengEnvironment.allCases.map(\.rawValue)),
        standard: CleengEnvironment.sandbox.rawValue, group: .cleeng, readers: .service,
        "selects the default URLs of Cleeng: [the sandbox's or production's](go-live.md). A URL of the other environment is a warning at the start"
    )
    static let paymentURL = Setting(
        "RELAY_CLEENG_PAYMENT_URL", .url, standard: "https://api.sandbox.cleeng.com",
        production: "https://api.cleeng.com", group: .cleeng, readers: .worker,
        (["`POST {url}\(StorePlatform.apple.paymentPath)`"] + StorePlatform.asked.map { "`\($0.paymentPath)`" })
            .joined(separator: ", "))
    static let apiURL = Setting(
        "RELAY_CLEENG_API_URL", .url, standard: "https://api.sandbox.cleeng.com", production: "https://api.cleeng.com",
        group: .cleeng, readers: .everything, "`GET {url}/3.1/entitlements`, `POST {url}/3.0/json-rpc`")
    static let storeKit2URL = Setting(
        "RELAY_CLEENG_STOREKIT2_URL", .url, standard: "https://inapp.api.sandbox.cleeng.com",
        production: "https://inapp.api.cleeng.com", group: .cleeng, readers: .worker, "`POST {url}/storekit2/purchases`"
    )
    static let cleengGoogleURL = Setting(
        "RELAY_CLEENG_GOOGLE_URL", .url, group: .cleeng, readers: .service,
        example: "https://inapp.api.sandbox.cleeng.com/…",
        "[Cleeng's Google Play connector V2](operate.md#by-the-google-play-connector): `POST {url}/purchases`, `POST {url}/purchases/transfers`, `GET {url}/purchases/synchronizations/{id}`. Without it purchases at Google Play go to `/android/payment`"
    )
    static let driver = Setting(
        "RELAY_CLEENG_DRIVER", .choice(["auto", "receipt", "storekit2"]), standard: "auto", group: .cleeng,
        readers: .service,
        "[by which road purchases go to Cleeng](operate.md#by-storekit-2); `receipt` is always by `/apple/payment` and `/android/payment`"
    )
    static let entitlementSource = Setting(
        "RELAY_CLEENG_ENTITLEMENT_SOURCE", .choice(["entitlements", "accessible-tags"]), standard: "entitlements",
        group: .cleeng, readers: .everything,
        "the API that answers whether a customer has access; `accessible-tags` for publishers that sell by tag")
    static let tagsFile = Setting(
        "RELAY_CLEENG_TAGS_FILE", .path, group: .cleeng, readers: .everything, example: "/etc/receipt-relay/tags.json",
        "for `accessible-tags`: JSON such as `{\"S123456789_US\": [\"live\", \"vod\"]}`; an offer that is not in it has its id as its only tag"
    )
    static let maxConcurrentCalls = Setting(
        "RELAY_CLEENG_MAX_CONCURRENT_CALLS", .count(1...1_000), standard: "64", group: .cleeng, readers: .everything,
        "calls to Cleeng that one process has under way at once, all routes together; also its connections to a host")
    static let notificationURL = Setting(
        "RELAY_CLEENG_NOTIFICATION_URL", .form("an http or https URL, or `off`"), standard: "off",
        production:
            "https://notification.cleeng.com/1.0/in_app/subscriptions/apple/status_update_notification/{publisherId}",
        group: .cleeng, readers: .everything,
        "Cleeng's URL for [the App Store's notifications](operate.md#the-app-stores-notifications); `off`: none is passed on"
    )
    static let webhookSecret = Setting(
        "RELAY_CLEENG_WEBHOOK_SECRET", .text, isSecret: true, isPublishersOwn: true, group: .cleeng, readers: .front,
        example: "…",
        "shared with Cleeng for [its webhooks](operate.md#cleengs-webhooks); without it `POST /cleeng/webhooks` answers 404"
    )
    static let webhookSignatureHeader = Setting(
        "RELAY_CLEENG_WEBHOOK_SIGNATURE_HEADER", .form("the name of a header field"), standard: "X-Cleeng-Signature",
        group: .cleeng, readers: .front, "where their signature stands")
    static let webhookSignatureEncoding = Setting(
        "RELAY_CLEENG_WEBHOOK_SIGNATURE_ENCODING", .choice(["hex", "base64"]), standard: "hex", group: .cleeng,
        readers: .front, "how it is written")
}
