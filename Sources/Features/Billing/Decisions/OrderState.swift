import RelayCore

/// State of an order. Raw values are stored.
///
///     in progress ──its commit, the first of its subscription──► completed ──its commit once more──► completed
///          └──commit, after another order's──► stays in progress, and the answer names the conflict
enum OrderState: Int16, Sendable, CaseIterable {
    case inProgress = 1
    case completed = 2

    var name: String {
        switch self {
        case .inProgress: "InProgress"
        case .completed: "Completed"
        }
    }
}

/// Effect of an order. Raw values are stored.
enum OrderType: Int16, Sendable, CaseIterable {
    /// Creates a contract.
    case signup = 1
    /// Adds a subscription to an existing contract.
    case upgrade = 2

    var name: String {
        switch self {
        case .signup: "Signup"
        case .upgrade: "Upgrade"
        }
    }
}

/// Outcome of a commit.
enum CommitVerdict: Sendable, Equatable {
    /// The subscription joins the order's contract now.
    case completes
    /// This order was completed before: the answer is repeated.
    case repeats
    /// Another order was first: a subscription never changes its contract.
    case conflicts

    /// - Parameter contract: present contract of the subscription; nil if it has none.
    init(_ state: OrderState, subscriptionIsOf contract: BillingID?) {
        switch state {
        case .completed: self = .repeats
        case .inProgress: self = contract == nil ? .completes : .conflicts
        }
    }
}
