public import RelayCore

/// A notification in one store's format; read, not verified.
public protocol StoreSignal: Sendable {
    var notification: StoreNotification { get }

    /// - Throws: ``SignalError``.
    init(body: [UInt8]) throws(SignalError)

    /// The store's JSON for operators, with personal data masked; nil if the body is not such a notification.
    static func payload(of body: [UInt8]) -> [UInt8]?
}

extension StoreNotification {
    /// A refund that it reports. Nil without a time.
    func refund(of order: String?, reason: CancelationReason? = nil) -> LedgerRefund? {
        saidAt.map { LedgerRefund(order: TransactionID(order), at: $0, reason: reason) }
    }
}

extension StorePlatform {
    /// Format of the store's notifications; nil for Apple's, which `AppleStore` reads.
    public var signal: (any StoreSignal.Type)? {
        switch self {
        case .apple: nil
        case .google: GoogleNotification.self
        case .amazon: AmazonNotification.self
        case .roku: RokuNotification.self
        }
    }
}
