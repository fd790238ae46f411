import RelayCore

/// What is known when a row of the grid has come to rest: from the apps, from the database, and from the upstream.
/// A purchase is named by its transaction id. It has several validations where it was posted again after one was over.
struct Evidence: Sendable {
    struct Validation: Sendable {
        var id: String
        /// The post that made it. Its forwards have that name too.
        var post: String
        var transaction: String
        var subscription: String
        var customer: String
        /// Microseconds since 1970.
        var acceptedAt: Int64
        var settledAt: Int64?
        /// When it first ended for whoever posted: from then on the same purchase may begin anew.
        var endedAt: Int64?
        var status: ValidationStatus
        /// A newer request went first. It may have been granted all the same since.
        var wasSuperseded = false
        var isLate = false
    }

    struct Forward: Sendable {
        var post: String
        var subscription: String
        /// Nil where no answer was given.
        var status: Int?
        /// Another one for the same purchase or the same subscription was under way at the same time.
        var overlapped = false
    }

    struct Owner: Sendable, Hashable {
        var subscription: String
        var customer: String
    }

    /// The database's time when it was gathered, in microseconds since 1970.
    var gatheredAt: Int64 = .max
    /// What an app had a 202 for, with the ids that it was told.
    var accepted: [String: Set<String>] = [:]
    /// What no app got a 202 for, however long it tried.
    var refused: [String] = []
    /// What an app got instead of a 202 or a 503.
    var oddAnswers: [String] = []
    /// Posts, repeats and tries included.
    var posts = 0
    /// Validations' ids, each posted after the acceptance of the one before, for one subscription each.
    var sequences: [[String]] = []
    /// What an app is told, by the validation's id.
    var told: [String: String] = [:]
    /// How they stood before the apps asked, by id: a grant may come late, in between.
    var before: [String: ValidationStatus] = [:]
    /// In order of acceptance.
    var validations: [Validation] = []
    /// In the order in which they came.
    var forwards: [Forward] = []
    /// Whose the subscriptions are, by our ledger and by the upstream's.
    var ours: [Owner] = []
    var upstreams: [Owner] = []
}
