/// How far an order has come. The numbers are stored.
///
///     in progress ──its commit, the first of its subscription──► completed ──its commit once more──► completed
///          └──commit, after another order's──► stays in progress, and the answer names the conflict
public enum OrderState: Int16, Sendable, CaseIterable {
    case inProgress = 1
    case completed = 2

    public var name: String {
        switch self {
        case .inProgress: "InProgress"
        case .completed: "Completed"
        }
    }
}

/// What an order makes. The numbers are stored.
public enum OrderType: Int16, Sendable, CaseIterable {
    /// A contract of its own.
    case signup = 1
    /// One more subscription of a contract that there is.
    case upgrade = 2

    public var name: String {
        switch self {
        case .signup: "Signup"
        case .upgrade: "Upgrade"
        }
    }
}

/// Outcome of a commit.
public enum CommitVerdict: Sendable, Equatable {
    /// The subscription enters the order's contract now.
    case completes
    /// It did so by this very order: the answer is the same again.
    case repeats
    /// Another order was first: one subscription, one contract, for ever.
    case conflicts

    /// - Parameter contract: the one that its subscription is of by now.
    public init(_ state: OrderState, subscriptionIsOf contract: BillingID?) {
        switch state {
        case .completed: self = .repeats
        case .inProgress: self = contract == nil ? .completes : .conflicts
        }
    }
}
