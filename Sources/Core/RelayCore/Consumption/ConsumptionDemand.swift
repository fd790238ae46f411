/// Apple's question how a purchase was used, after its customer asked for a refund (App Store Server Notifications,
/// `CONSUMPTION_REQUEST`).
public struct ConsumptionDemand: Sendable, Hashable {
    /// Time within which Apple wants an answer.
    public static let window = Duration.seconds(12 * 3_600)

    public var transactionID: TransactionID
    /// Apple's text, which may be unknown to this program.
    public var reason: String?
    /// Whether it is an auto-renewable subscription.
    public var renews: Bool

    public init(transactionID: TransactionID, reason: String?, renews: Bool) {
        self.transactionID = transactionID
        self.reason = reason
        self.renews = renews
    }
}

/// State of an answer. Raw values are stored.
public enum ConsumptionState: Int16, Sendable, CaseIterable {
    /// Must be sent.
    case waiting = 1
    case awaitsConsent = 2
    case answered = 3
    case noConsent = 4
    /// Apple rejected it.
    case refused = 5
    /// There was consent, but no answer reached Apple in time.
    case expired = 6

    public var name: String {
        switch self {
        case .waiting: "waiting"
        case .awaitsConsent: "awaits_consent"
        case .answered: "answered"
        case .noConsent: "no_consent"
        case .refused: "refused"
        case .expired: "expired"
        }
    }
}
