extension Setting {
    static let webhookURLs = Setting(
        name: "RELAY_WEBHOOK_URLS", kind: .form("http or https URLs, comma-separated, 100 at most"), standard: nil,
        group: .webhook, readers: .worker, example: "https://shop.example.com/webhooks",
        meaning: "endpoints of publisher `main`, for all purchases; kept in step at each start of a worker")
    static let webhookPassword = Setting(
        name: "RELAY_WEBHOOK_PASSWORD", kind: .form("one line of at most 1,024 bytes"), standard: nil, isSecret: true,
        isPublishersOwn: true, group: .webhook, readers: [.worker, .commands], example: "…",
        meaning: "stands in the body as `password`; left out where it is not set")
    static let webhookSecrets = Setting(
        name: "RELAY_WEBHOOK_SECRETS",
        kind: .form("`whsec_` and base64 of at least 16 bytes (24 to 64 by the standard), comma-separated, 10 at most"),
        standard: nil, isSecret: true, isPublishersOwn: true, group: .webhook, readers: [.worker, .commands],
        example: "whsec_…", meaning: "each signs every message (Standard Webhooks); several while they change")
    static let webhookRetries = Setting(
        name: "RELAY_WEBHOOK_RETRY_SECONDS", kind: .form("numbers from 0 to 2592000, comma-separated, 50 at most"),
        standard: "5,30,120,600,3600,10800,21600,43200,86400", group: .webhook, readers: .worker,
        meaning: "pauses after tries that failed, each ±20 %; after the last try a message is given up")
    static let webhookTimeout = Setting(
        name: "RELAY_WEBHOOK_TIMEOUT_SECONDS", kind: .seconds(0.1...120), standard: "15", group: .webhook,
        readers: [.worker, .commands], meaning: "for one try, looking up the name included")
    static let webhookAllowNetworks = Setting(
        name: "RELAY_WEBHOOK_ALLOW_NETWORKS", kind: .addressRanges, standard: nil, group: .webhook,
        readers: [.worker, .commands], example: "10.0.0.0/8",
        meaning: "what messages may be sent to although it is private; nothing where it is left out")
}
