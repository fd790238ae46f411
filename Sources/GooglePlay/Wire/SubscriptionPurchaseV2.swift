import OutboundHTTP
public import RelayCore
import StoreAPI

/// A subscription as `purchases.subscriptionsv2.get` tells of it. All but the token may be missing: what Google adds or leaves
/// out breaks nothing.
public struct SubscriptionPurchaseV2: Sendable, Hashable {
    public struct LineItem: Sendable, Hashable {
        public enum Plan: Sendable, Hashable {
            case autoRenewing(isEnabled: Bool)
            case prepaid
        }

        public var productID: ProductID
        public var expiryTime: Timestamp?
        public var latestSuccessfulOrderID: String?
        public var plan: Plan?
        public var basePlanID: String?
        public var offerID: String?
        /// The phase that the subscriber is in: `freeTrial`, `introductoryPrice`, `basePrice`, `prorationPeriod`.
        public var offerPhase: String?
        /// The product that takes its place at the end of the period.
        public var deferredProductID: String?
        /// `OUTSTANDING`, `CONFIRMED`, …, of a higher price that has to be agreed to.
        public var priceChangeState: String?
    }

    public struct Cancellation: Sendable, Hashable {
        /// Which of the contexts stands there: `userInitiatedCancellation`, `systemInitiatedCancellation`,
        /// `developerInitiatedCancellation`, `replacementCancellation`.
        public var kind: String
        public var time: Timestamp?
        public var surveyReason: String?
    }

    /// What it was asked for by.
    public var token: String
    /// As Google writes it, known to this program or not: `SUBSCRIPTION_STATE_ACTIVE`, ….
    public var state: String
    public var startTime: Timestamp?
    /// Of the last order, paid or not.
    public var latestOrderID: String?
    public var linkedPurchaseToken: String?
    public var lineItems: [LineItem]
    public var cancellation: Cancellation?
    public var autoResumeTime: Timestamp?
    public var isTest: Bool
    /// `ACKNOWLEDGEMENT_STATE_PENDING`, `ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED`.
    public var acknowledgementState: String?
    public var obfuscatedExternalAccountID: String?

    private static let mostItems = 50

    /// Nil for what names no state and no product.
    init?(_ json: JSONValue, token: String) {
        guard let state = json["subscriptionState"]?.text else { return nil }
        let items = (json["lineItems"]?.list ?? []).prefix(Self.mostItems).compactMap(LineItem.init)
        guard !items.isEmpty else { return nil }
        self.token = token
        self.state = state
        lineItems = items
        startTime = json["startTime"]?.moment
        latestOrderID = json["latestOrderId"]?.text
        // It becomes the key of rows: what is longer than any token fits into no index.
        linkedPurchaseToken = json["linkedPurchaseToken"]?.text.flatMap { $0.utf8.count <= 2_048 ? $0 : nil }
        cancellation = json["canceledStateContext"].flatMap(Cancellation.init)
        autoResumeTime = json["pausedStateContext"]?["autoResumeTime"]?.moment
        isTest = json["testPurchase"] != nil
        acknowledgementState = json["acknowledgementState"]?.text
        obfuscatedExternalAccountID = json["externalAccountIdentifiers"]?["obfuscatedExternalAccountId"]?.text
    }
}

extension SubscriptionPurchaseV2.LineItem {
    fileprivate static let phases = ["freeTrial", "introductoryPrice", "prorationPeriod", "basePrice"]

    fileprivate init?(_ json: JSONValue) {
        guard let product = json["productId"]?.text else { return nil }
        productID = ProductID(product)
        expiryTime = json["expiryTime"]?.moment
        latestSuccessfulOrderID = json["latestSuccessfulOrderId"]?.text
        let renewing = json["autoRenewingPlan"]
        if let renewing {
            // A flag that is not set is left out.
            plan = .autoRenewing(isEnabled: renewing["autoRenewEnabled"]?.flag ?? false)
        } else if json["prepaidPlan"] != nil {
            plan = .prepaid
        }
        basePlanID = json["offerDetails"]?["basePlanId"]?.text
        offerID = json["offerDetails"]?["offerId"]?.text
        offerPhase = json["offerPhase"].flatMap { phase in Self.phases.first { phase[$0] != nil } }
        deferredProductID = json["deferredItemReplacement"]?["productId"]?.text
        let change = renewing?["priceChangeDetails"]
        priceChangeState =
            renewing?["priceStepUpConsentDetails"]?["state"]?.text
            ?? (change?["priceChangeMode"]?.text == "PRICE_INCREASE" ? change?["priceChangeState"]?.text : nil)
    }
}

extension SubscriptionPurchaseV2.Cancellation {
    fileprivate static let kinds = [
        "userInitiatedCancellation", "systemInitiatedCancellation", "developerInitiatedCancellation",
        "replacementCancellation",
    ]

    fileprivate init?(_ json: JSONValue) {
        guard let kind = Self.kinds.first(where: { json[$0] != nil }) else { return nil }
        self.kind = kind
        time = json[kind]?["cancelTime"]?.moment
        surveyReason = json[kind]?["cancelSurveyResult"]?["reason"]?.text
    }
}
