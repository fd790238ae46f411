extension Setting {
    /// Groups of settings in the printed reference.
    enum Group: String, Sendable, Equatable, CaseIterable {
        case database, http, ops, cleeng, pursuit, apple, google, amazon, roku, stores, webhook, limits, customer,
            retention,
            encryption, publishers, tracing, log

        var title: String {
            switch self {
            case .database: "The database"
            case .http: "The app and publisher front"
            case .ops: "The ops front"
            case .cleeng: "Cleeng"
            case .pursuit: "How a purchase is pursued"
            case .apple: "Apple"
            case .google: "Google Play"
            case .amazon: "The Amazon Appstore"
            case .roku: "Roku Pay"
            case .stores: "Lost notifications of other stores"
            case .webhook: "Webhooks"
            case .limits: "Limits"
            case .customer: "Customers' tokens"
            case .retention: "Retention"
            case .encryption: "Encryption at rest"
            case .publishers: "Several publishers"
            case .tracing: "Traces"
            case .log: "The log"
            }
        }

        /// Introduction to the whole group; empty if none is needed.
        var lead: String {
            switch self {
            case .ops: "Never on a public address."
            case .apple:
                "Which of Apple's signatures are accepted ([operate.md](operate.md#whether-a-receipt-is-genuine)), and how the relay asks the App Store ([operate.md](operate.md#asking-the-app-store))."
            case .google:
                "Questions about purchases ([stores.md](stores.md#google-play)). Without an account the relay asks nothing."
            case .amazon:
                "Questions about receipts ([stores.md](stores.md#amazon-appstore)). Without a secret the relay asks nothing."
            case .roku:
                "Questions about transactions ([stores.md](stores.md#roku-pay)). Without a key the relay asks nothing. The key opens `POST /roku/notifications`."
            case .webhook:
                "The publisher's own endpoints ([operate.md](operate.md#webhooks)), beside those that `receipt-relay webhooks add` adds."
            case .customer:
                "Where one of the two is set, app calls must carry `X-Customer-Token`, a JSON Web Token with the customer's email."
            case .retention: "What is deleted, and when: [operate.md](operate.md#retention)."
            case .encryption:
                "Where keys are set, emails and receipts are sealed in the database ([operate.md](operate.md#encryption))."
            case .tracing:
                "The W3C's trace context is passed on in any case ([operate.md](operate.md#traces))."
            default: ""
            }
        }

        /// Section of the group's keys in a file; nil if the keys are at the top level.
        var section: String? {
            switch self {
            case .database, .http, .ops, .cleeng, .apple, .google, .amazon, .roku, .webhook, .customer, .encryption,
                .tracing:
                rawValue
            case .pursuit, .stores, .limits, .retention, .publishers, .log: nil
            }
        }
    }
}
