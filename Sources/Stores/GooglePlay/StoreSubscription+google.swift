import OutboundHTTP
import RelayCore
import StoreAPI

/// Google's answers, converted to the common form. Every field is optional, so that changes by Google break nothing.
extension StoreSubscription {
    private static let mostItems = 50

    /// A subscription from `purchases.subscriptionsv2.get`. Nil without a state, and without a product.
    ///
    /// Its key is the purchase token, which the app sends, notifications name, and Google is asked by. After a change
    /// of plan, or a new sign-up before the end, the next purchase links to that token (`linkedPurchaseToken`). A new
    /// sign-up in the Play Store after the end names it too (`outOfAppPurchaseContext`). Order ids are not linked, and
    /// Google cannot be asked about a subscription that ended long ago.
    ///
    /// - Parameter readAt: when Google was asked.
    init?(google json: JSONValue, token: String, readAt: Timestamp) {
        guard let word = json["subscriptionState"]?.text else { return nil }
        let startTime = json["startTime"]?.moment
        let items = (json["lineItems"]?.list ?? []).prefix(Self.mostItems)
            .compactMap { Item(google: $0, latestOrderID: json["latestOrderId"]?.text) }
        guard !items.isEmpty else { return nil }
        self.init(
            .google, .subscription, key: TransactionID(token), items: items,
            // Without a start time nothing was granted, whatever the state is called.
            state: Self.states[word] ?? (startTime == nil ? .pending : .unknown),
            isTest: json["testPurchase"] != nil, readAt: readAt)
        // A plan that was never paid for replaces no other. A token longer than any known one would not fit an index of
        // the database.
        let earlier =
            json["linkedPurchaseToken"] ?? json["outOfAppPurchaseContext"]?["expiredPurchaseToken"]
        if state.isPurchase, let linked = earlier?.text, linked.utf8.count <= 2_048 {
            previousKey = TransactionID(linked)
        }
        firstPurchasedAt = startTime
        isAcknowledged = (json["acknowledgementState"]?.text).map { $0 == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" }
        let account =
            json["externalAccountIdentifiers"] ?? json["outOfAppPurchaseContext"]?["expiredExternalAccountIdentifiers"]
        accountToken = account?["obfuscatedExternalAccountId"]?.text
        // During grace, Google moves the expiry time to the end of grace.
        if state == .inGrace { graceUntil = expiresAt }
        if let context = json["canceledStateContext"], let cancellation = StoreCancellation(google: context) {
            self.cancellation = cancellation
        } else if state == .canceled || state == .expired || state == .revoked {
            cancellation = StoreCancellation(.unknown)
        }
    }

    /// A one-time purchase from `purchases.products.get`. Nil without both a time and an order.
    ///
    /// - Parameters:
    ///   - productID: used if the answer names none.
    ///   - readAt: when Google was asked.
    init?(googleProduct json: JSONValue, productID: ProductID, token: String, readAt: Timestamp) {
        let order = json["orderId"]?.text
        let time = json["purchaseTimeMillis"]?.moment
        guard order != nil || time != nil else { return nil }
        var item = Item(productID: ProductID(json["productId"]?.text) ?? productID)
        item.orderID = TransactionID(order)
        let state: StoreState =
            // Google leaves out zeros.
            switch json["purchaseState"]?.integer ?? 0 {
            case 0: .active
            case 1: .revoked
            case 2: .pending
            default: .unknown
            }
        self.init(
            .google, json["consumptionState"]?.integer == 1 ? .consumable : .oneTime, key: TransactionID(token),
            items: [item], state: state, isTest: json["purchaseType"]?.integer == 0, readAt: readAt)
        firstPurchasedAt = time
        // Google may leave out a zero.
        isAcknowledged = json["acknowledgementState"]?.integer == 1
        accountToken = json["obfuscatedExternalAccountId"]?.text
        if state == .revoked { cancellation = StoreCancellation(.unknown) }
    }

    private static let states: [String: StoreState] = [
        "SUBSCRIPTION_STATE_PENDING": .pending, "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": .pendingCanceled,
        "SUBSCRIPTION_STATE_ACTIVE": .active, "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": .inGrace,
        "SUBSCRIPTION_STATE_ON_HOLD": .onHold, "SUBSCRIPTION_STATE_PAUSED": .paused,
        "SUBSCRIPTION_STATE_CANCELED": .canceled, "SUBSCRIPTION_STATE_EXPIRED": .expired,
        "SUBSCRIPTION_STATE_REVOKED": .revoked,
    ]
}

extension StoreSubscription.Item {
    private static let phases = ["freeTrial", "introductoryPrice", "prorationPeriod", "basePrice"]

    fileprivate init?(google json: JSONValue, latestOrderID: String?) {
        guard let product = json["productId"]?.text else { return nil }
        self.init(productID: ProductID(product))
        planID = json["offerDetails"]?["basePlanId"]?.text
        offerID = json["offerDetails"]?["offerId"]?.text
        // The latest order may be unpaid.
        orderID = TransactionID(json["latestSuccessfulOrderId"]?.text ?? latestOrderID)
        expiresAt = json["expiryTime"]?.moment
        let plan = json["autoRenewingPlan"]
        if let plan {
            // Google leaves out a flag that is not set.
            autoRenews = plan["autoRenewEnabled"]?.flag ?? false
        } else if json["prepaidPlan"] != nil {
            autoRenews = false
        }
        nextProductID = ProductID(json["deferredItemReplacement"]?["productId"]?.text)
        let phase = json["offerPhase"].flatMap { phase in Self.phases.first { phase[$0] != nil } }
        isTrial = phase.map { $0 == "freeTrial" }
        isIntro = phase.map { $0 == "introductoryPrice" }
        let change = plan?["priceChangeDetails"]
        let increase = change?["priceChangeMode"]?.text == "PRICE_INCREASE" ? change?["priceChangeState"]?.text : nil
        hasAgreedToPrice =
            switch plan?["priceStepUpConsentDetails"]?["state"]?.text ?? increase {
            case "OUTSTANDING", "PENDING": false
            case "CONFIRMED", "COMPLETED": true
            default: nil
            }
    }
}

extension StoreCancellation {
    /// - Parameter context: present only for canceled or expired subscriptions.
    fileprivate init?(google context: JSONValue) {
        let kinds: KeyValuePairs<String, CancelationReason> = [
            "userInitiatedCancellation": .customer, "systemInitiatedCancellation": .system,
            "developerInitiatedCancellation": .developer, "replacementCancellation": .replaced,
        ]
        guard let (kind, reason) = kinds.first(where: { context[$0.key] != nil }) else { return nil }
        let survey = context[kind]?["cancelSurveyResult"]?["reason"]?.text
        let said = reason == .customer ? survey.flatMap { Self.surveyReasons[$0] } : nil
        self.init(said ?? reason, at: context[kind]?["cancelTime"]?.moment)
    }

    private static let surveyReasons: [String: CancelationReason] = [
        "CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE": .notUsefulEnough,
        "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES": .technicalIssues,
        "CANCEL_SURVEY_REASON_COST_RELATED": .cost,
        "CANCEL_SURVEY_REASON_FOUND_BETTER_APP": .foundBetterApp,
        "CANCEL_SURVEY_REASON_OTHERS": .otherReason,
    ]
}
