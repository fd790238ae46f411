/// Apple's request to say how a purchase was used: its customer has asked for a refund (App Store Server Notifications, `CONSUMPTION_REQUEST`).
public struct ConsumptionDemand: Sendable, Hashable {
    /// In which Apple wants an answer.
    public static let window = Duration.seconds(12 * 3_600)

    public var transactionID: TransactionID
    /// As Apple writes it, known to this program or not.
    public var reason: String?
    /// It is an auto-renewable subscription.
    public var renews: Bool

    public init(transactionID: TransactionID, reason: String?, renews: Bool) {
        self.transactionID = transactionID
        self.reason = reason
        self.renews = renews
    }
}

/// How far an answer has come. The numbers are stored.
public enum ConsumptionState: Int16, Sendable, CaseIterable {
    /// To be sent.
    case waiting = 1
    case awaitsConsent = 2
    case answered = 3
    case noConsent = 4
    /// Apple does not take it.
    case refused = 5
    /// There was consent, and no answer got through.
    case expired = 6

    public var isOpen: Bool { self == .waiting || self == .awaitsConsent }

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
