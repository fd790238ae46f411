import Foundation

/// A subscription that the simulated Google Play knows, as `PUT /control/subscriptions/{token}` tells of it.
struct GoogleSubscription: Sendable, Codable {
    var packageName: String?
    var productId: String?
    var basePlanId: String?
    var offerId: String?
    /// `freeTrial`, `introductoryPrice`, `basePrice`, `prorationPeriod`.
    var phase: String?
    /// Of the first order; renewals have `..0`, `..1` behind it.
    var orderId: String?
    var startTime: Date?
    var expiryTime: Date?
    /// Without `SUBSCRIPTION_STATE_`.
    var state: String?
    var autoRenewing: Bool?
    var isPrepaid: Bool?
    var linkedPurchaseToken: String?
    var isTest: Bool?
    var isAcknowledged: Bool?
    var accountId: String?

    var renewals: Int?
    /// Such as `userInitiatedCancellation`.
    var canceledBy: String?
    var canceledAt: Date?
    /// Without `CANCEL_SURVEY_REASON_`.
    var survey: String?
    var resumesAt: Date?

    static let fields = [
        "packageName", "productId", "basePlanId", "offerId", "phase", "orderId", "startTime", "expiryTime", "state",
        "autoRenewing", "isPrepaid", "linkedPurchaseToken", "isTest", "isAcknowledged", "accountId", "renewals",
        "canceledBy", "canceledAt", "survey", "resumesAt",
    ]

    /// With everything that was not said.
    func completed(at now: Date) -> GoogleSubscription {
        var whole = self
        whole.packageName = packageName ?? "com.example.app"
        whole.productId = productId ?? "gold"
        whole.orderId = orderId ?? Self.newOrderID()
        whole.startTime = startTime ?? now
        whole.expiryTime = expiryTime ?? now.addingTimeInterval(30 * 86_400)
        whole.state = state ?? "ACTIVE"
        whole.autoRenewing = autoRenewing ?? true
        return whole
    }

    static func newOrderID() -> String {
        func digits(_ count: Int) -> String { (0..<count).map { _ in String(Int.random(in: 0...9)) }.joined() }
        return "GPA.\(digits(4))-\(digits(4))-\(digits(4))-\(digits(5))"
    }

    /// What is canceled ends by itself; all else only when it is told to.
    func stateName(at now: Date) -> String {
        let name = state ?? "ACTIVE"
        return name == "CANCELED" && (expiryTime ?? now) <= now ? "EXPIRED" : name
    }

    /// Of the last order that was paid.
    var paidOrderID: String { (orderId ?? "") + (renewals.map { $0 > 0 ? "..\($0 - 1)" : "" } ?? "") }
}
