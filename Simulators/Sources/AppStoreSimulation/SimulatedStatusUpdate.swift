public import Foundation

/// What a version 1 notification is to say (App Store Server Notifications, `responseBodyV1`): not signed, and with every
/// number as text.
public struct SimulatedStatusUpdate: Sendable, Hashable {
    public var notificationType: String
    /// The shared secret, which is all that vouches for it.
    public var password: String?
    /// `Sandbox` or `PROD`.
    public var environment: String
    public var bundleId: String
    public var autoRenewStatus: Bool
    public var autoRenewStatusChangeDate: Date?
    public var autoRenewProductId: String
    public var originalTransactionId: String
    /// Oldest first; written the other way round, as Apple does.
    public var transactions: [SimulatedTransaction]
    public var renewals: [SimulatedRenewal]

    public init(
        notificationType: String, password: String?, environment: String = "Sandbox", bundleId: String,
        autoRenewStatus: Bool = true, autoRenewStatusChangeDate: Date? = nil, autoRenewProductId: String,
        originalTransactionId: String, transactions: [SimulatedTransaction], renewals: [SimulatedRenewal]
    ) {
        self.notificationType = notificationType
        self.password = password
        self.environment = environment
        self.bundleId = bundleId
        self.autoRenewStatus = autoRenewStatus
        self.autoRenewStatusChangeDate = autoRenewStatusChangeDate
        self.autoRenewProductId = autoRenewProductId
        self.originalTransactionId = originalTransactionId
        self.transactions = transactions
        self.renewals = renewals
    }
}
