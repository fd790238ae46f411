import RelayCore

/// Everything that apps, database and upstream show after a row of the grid has settled. A purchase is named by its
/// transaction id. It has several validations if it was posted again after one was over.
struct Evidence: Sendable {
    struct Validation: Sendable {
        var id: String
        /// Name of the post that made it. Its forwards have the same name.
        var post: String
        var transaction: String
        var subscription: String
        var customer: String
        /// Microseconds since 1970.
        var acceptedAt: Int64
        var settledAt: Int64?
        /// First time at which it was over for its app. From then on the same purchase may get a new validation.
        var endedAt: Int64?
        var status: ValidationStatus
        /// Whether a newer request overtook it. It may have been granted since.
        var wasSuperseded = false
        var isLate = false
    }

    struct Forward: Sendable {
        var post: String
        var subscription: String
        /// `nil` without an answer.
        var status: Int?
        /// Whether another forward for the same purchase or subscription ran at the same time.
        var overlapped = false
    }

    struct Owner: Sendable, Hashable {
        var subscription: String
        var customer: String
    }

    /// The database's time of gathering, in microseconds since 1970.
    var gatheredAt: Int64 = .max
    /// Purchases that were answered 202 or 200, with the returned ids.
    var accepted: [String: Set<String>] = [:]
    /// Purchases that were never accepted.
    var refused: [String] = []
    /// Answers other than an acceptance or 503.
    var oddAnswers: [String] = []
    /// Number of posts, with repeats and retries.
    var posts = 0
    /// Ids of validations for one subscription each. Each was posted after the one before was accepted.
    var sequences: [[String]] = []
    /// Status that an app reads, by the validation's id.
    var told: [String: String] = [:]
    /// Statuses before the apps polled, by id. A late grant may come in between.
    var before: [String: ValidationStatus] = [:]
    /// In order of acceptance.
    var validations: [Validation] = []
    /// Forwards in order of arrival.
    var forwards: [Forward] = []
    /// Owners of the subscriptions, in the relay's database and at the upstream.
    var ours: [Owner] = []
    var upstreams: [Owner] = []
}
