extension Setting {
    /// A group of settings in the printed reference.
    struct Group: Sendable, Equatable {
        let name: String
        let title: String
        /// Introduction to the whole group; empty if none is needed.
        let lead: String
        /// Section of the group's keys in a file; nil if the keys are at the top level.
        let section: String?

        init(_ name: String, _ title: String, lead: String = "", isSection: Bool = false) {
            self.name = name
            self.title = title
            self.lead = lead
            section = isSection ? name : nil
        }

        /// In the order of the printed reference.
        static let all =
            [database, http, ops, cleeng, pursuit, apple] + StoreModule.all.map(\.credential.group)
            + [stores, webhook, limits, customer, retention, encryption, publishers, tracing, log]

        static let database = Self("database", "The database", isSection: true)
        static let http = Self("http", "The app and publisher front", isSection: true)
        static let ops = Self("ops", "The ops front", lead: "Never on a public address.", isSection: true)
        static let cleeng = Self("cleeng", "Cleeng", isSection: true)
        static let pursuit = Self("pursuit", "How a purchase is pursued")
        static let apple = Self(
            "apple", "Apple",
            lead:
                "Which of Apple's signatures are accepted ([operate.md](operate.md#whether-a-receipt-is-genuine)), and how the relay asks the App Store ([operate.md](operate.md#asking-the-app-store)).",
            isSection: true)
        static let stores = Self("stores", "Lost notifications of other stores")
        static let webhook = Self(
            "webhook", "Webhooks",
            lead:
                "The publisher's own endpoints ([operate.md](operate.md#webhooks)), beside those that `receipt-relay webhooks add` adds.",
            isSection: true)
        static let limits = Self("limits", "Limits")
        static let customer = Self(
            "customer", "Customers' tokens",
            lead:
                "Where one of the two is set, app calls must carry `X-Customer-Token`, a JSON Web Token with the customer's email.",
            isSection: true)
        static let retention = Self(
            "retention", "Retention", lead: "What is deleted, and when: [operate.md](operate.md#retention).")
        static let encryption = Self(
            "encryption", "Encryption at rest",
            lead:
                "Where keys are set, emails and receipts are sealed in the database ([operate.md](operate.md#encryption)).",
            isSection: true)
        static let publishers = Self("publishers", "Several publishers")
        static let tracing = Self(
            "tracing", "Traces",
            lead: "The W3C's trace context is passed on in any case ([operate.md](operate.md#traces)).",
            isSection: true)
        static let log = Self("log", "The log")
    }
}
