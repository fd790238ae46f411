import Foundation

/// A subscription in the simulated Google Play, as set by `PUT /control/subscriptions/{token}`.
struct GoogleSubscription: Sendable, Codable {
    var packageName: String?
    var productId: String?
    var basePlanId: String?
    var offerId: String?
    /// `freeTrial`, `introductoryPrice`, `basePrice`, `prorationPeriod`.
    var phase: String?
    /// Id of the first order; renewals append `..0`, `..1`.
    var orderId: String?
    var startTime: Date?
    var expiryTime: Date?
    /// Without `SUBSCRIPTION_STATE_`.
    var state: String?
    var autoRenewing: Bool?
    var isPrepaid: Bool?
    var linkedPurchaseToken: String?
    var isTest: Bool?
    /// nil counts as acknowledged.
    var isAcknowledged: Bool?
    /// Number of acknowledgements, including repeated ones.
    var acknowledgements: Int?
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
        "autoRenewing", "isPrepaid", "linkedPurchaseToken", "isTest", "isAcknowledged", "acknowledgements", "accountId",
        "renewals", "canceledBy", "canceledAt", "survey", "resumesAt",
    ]

    /// With defaults for missing fields.
    func completed(at now: Date) -> GoogleSubscription {
        var whole = self
        whole.packageName = packageName ?? "com.example.app"
        whole.productId = productId ?? "gold"
        whole.orderId = orderId ?? Self.newOrderID()
        whole.startTime = startTime ?? now
        whole.expiryTime = expiryTime ?? now.addingTimeInterval(30 * 86_400)
        whole.state = state ?? "ACTIVE"
        whole.autoRenewing = autoRenewing ?? true
        whole.acknowledgements = acknowledgements ?? 0
        return whole
    }

    static func newOrderID() -> String {
        func digits(_ count: Int) -> String { (0..<count).map { _ in String(Int.random(in: 0...9)) }.joined() }
        return "GPA.\(digits(4))-\(digits(4))-\(digits(4))-\(digits(5))"
    }

    /// A canceled subscription expires by itself; other states change only on request.
    func stateName(at now: Date) -> String {
        let name = state ?? "ACTIVE"
        return name == "CANCELED" && (expiryTime ?? now) <= now ? "EXPIRED" : name
    }

    /// Whether nothing has been paid yet.
    var isPending: Bool { state == "PENDING" || state == "PENDING_PURCHASE_CANCELED" }

    /// Id of the last paid order.
    var paidOrderID: String { (orderId ?? "") + (renewals.map { $0 > 0 ? "..\($0 - 1)" : "" } ?? "") }
}

extension GoogleSubscription {
    /// The answer of `purchases.subscriptionsv2.get`: false and missing values are left out.
    func answer(at now: Date) -> some Encodable {
        let name = stateName(at: now)
        let renewing = autoRenewing == true && name != "CANCELED" && name != "EXPIRED"
        let isRetried = name == "IN_GRACE_PERIOD" || name == "ON_HOLD"
        return Answer(
            regionCode: "US",
            lineItems: [
                Answer.LineItem(
                    productId: productId ?? "", expiryTime: isPending ? nil : expiryTime,
                    latestSuccessfulOrderId: isPending ? nil : paidOrderID,
                    autoRenewingPlan: isPrepaid == true
                        ? nil : Answer.Renewing(autoRenewEnabled: renewing ? true : nil),
                    prepaidPlan: isPrepaid == true ? [:] : nil,
                    offerDetails: Answer.Offer(basePlanId: basePlanId, offerId: offerId),
                    offerPhase: phase.map { [$0: [:]] })
            ],
            startTime: isPending ? nil : startTime, subscriptionState: "SUBSCRIPTION_STATE_\(name)",
            latestOrderId: isRetried ? "\(orderId ?? "")..\(renewals ?? 0)" : paidOrderID,
            linkedPurchaseToken: linkedPurchaseToken,
            pausedStateContext: name == "PAUSED" ? ["autoResumeTime": resumesAt ?? now] : nil,
            canceledStateContext: canceledBy.flatMap { kind in
                guard ["CANCELED", "EXPIRED"].contains(name) else { return nil }
                guard kind == "userInitiatedCancellation" else { return [kind: Answer.Cancellation()] }
                return [
                    kind: Answer.Cancellation(
                        cancelSurveyResult: survey.map { ["reason": "CANCEL_SURVEY_REASON_\($0)"] },
                        cancelTime: canceledAt)
                ]
            },
            testPurchase: isTest == true ? [:] : nil,
            acknowledgementState: "ACKNOWLEDGEMENT_STATE_\(isAcknowledged == false ? "PENDING" : "ACKNOWLEDGED")",
            externalAccountIdentifiers: accountId.map { ["obfuscatedExternalAccountId": $0] })
    }

    private struct Answer: Encodable {
        struct LineItem: Encodable {
            let productId: String
            let expiryTime: Date?
            let latestSuccessfulOrderId: String?
            let autoRenewingPlan: Renewing?
            let prepaidPlan: [String: String]?
            let offerDetails: Offer
            let offerPhase: [String: [String: String]]?
        }

        struct Renewing: Encodable { let autoRenewEnabled: Bool? }

        struct Offer: Encodable {
            let basePlanId: String?
            let offerId: String?
        }

        struct Cancellation: Encodable {
            var cancelSurveyResult: [String: String]?
            var cancelTime: Date?
        }

        var kind = "androidpublisher#subscriptionPurchaseV2"
        let regionCode: String
        let lineItems: [LineItem]
        let startTime: Date?
        let subscriptionState: String
        let latestOrderId: String
        let linkedPurchaseToken: String?
        let pausedStateContext: [String: Date]?
        let canceledStateContext: [String: Cancellation]?
        let testPurchase: [String: String]?
        let acknowledgementState: String
        let externalAccountIdentifiers: [String: String]?
    }
}
