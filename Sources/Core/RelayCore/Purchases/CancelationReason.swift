/// Why a transaction was cancelled, or why a subscription does not renew or has ended. The values are Fovea's, and so
/// is the spelling (`cancelationReason`). Publishers' back ends receive them.
public enum CancelationReason: String, Sendable, Hashable, Codable, CaseIterable {
    case developer = "Developer"
    case system = "System"
    case replaced = "System.Replaced"
    case productUnavailable = "System.ProductUnavailable"
    case billingError = "System.BillingError"
    case deleted = "System.Deleted"
    case customer = "Customer"
    case technicalIssues = "Customer.TechnicalIssues"
    case priceIncrease = "Customer.PriceIncrease"
    case cost = "Customer.Cost"
    case foundBetterApp = "Customer.FoundBetterApp"
    case notUsefulEnough = "Customer.NotUsefulEnough"
    case otherReason = "Customer.OtherReason"
    case unknown = "Unknown"

    /// - Parameter intent: Apple's number for why a subscription ended (App Store Server API, `expirationIntent`).
    public init(expirationIntent intent: Int) {
        switch intent {
        case 1: self = .customer
        case 2: self = .billingError
        case 3: self = .priceIncrease
        case 4: self = .productUnavailable
        default: self = .unknown
        }
    }

    /// - Parameter reason: Apple's number for the reason of a refund (App Store Server API, `revocationReason`; version
    ///   1, `cancellation_reason`).
    public init?(revocationReason reason: Int) {
        switch reason {
        case 0: self = .otherReason
        case 1: self = .technicalIssues
        default: return nil
        }
    }
}
