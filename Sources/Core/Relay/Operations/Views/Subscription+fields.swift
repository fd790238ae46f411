import RelayCore

extension OpsSubscription.Entry: Viewed {
    public static let fields: [Field<OpsSubscription.Entry>] = [
        Field("at", "At") { $0.at },
        Field("event", "Event") { $0.event },
        Field("detail", "Detail") { $0.detail },
        Field("status", "Status then") { $0.status?.name },
        Field("expiresAt", "Access until") { $0.expiresAt },
        Field("validationId", "Learned from") { $0.validation }.worded {
            ($0.validation ?? $0.notification).map { "\($0)" }
        },
        Field("notificationId") { $0.notification },
    ]
}

extension OpsSubscription: Viewed {
    public static let fields: [Field<OpsSubscription>] = [
        Field("id", "ID") { "\(SubscriptionCursor($0.name))" },
        Field("originalTransactionId", "Original transaction") { $0.name.originalTransactionID },
        Field("environment", "Environment") { $0.name.environment },
        Field("publisher", "Publisher") { $0.name.publisher },
        Field("customerEmail", "Customer") { $0.email },
        Field("offerId", "Offer") { $0.offerID },
        Field("validationId", "Validation") { $0.validation },
        Field("status", "Status") { $0.status?.name },
        Field("willRenew", "Will renew") { $0.willRenew },
        Field("expiresAt", "Access until") { $0.expiresAt },
        Field("productId", "Product") { $0.productID },
        Field("autoRenewProductId", "Renews as") { $0.autoRenewProductID },
        Field("reason", "Reason") { $0.reason },
        Field("bundleId", "Bundle") { $0.bundleID },
        Field("offerIdentifier", "Store's offer") { $0.storeOffer?.identifier },
        Field("offerType", "Kind of offer") { $0.storeOffer?.type },
        Field("offerDiscountType", "Discount") { $0.storeOffer?.discountType },
        Field("nextLookAt", "Looked at next") { $0.dueAt },
        Field("trouble", "Trouble") { $0.trouble },
        Field("parkedAt", "Parked") { $0.parkedAt },
        // The problem is left out if no check looked for one.
        Field("problem", "Problem") { $0.problem.map { FieldValue.text($0.name) } ?? .absent },
        Field("timeline") { FieldValue.list($0.timeline) },
    ]
}

extension OpsTransfer: Viewed {
    public static let fields: [Field<OpsTransfer>] = [
        Field("at", "At") { $0.at },
        Field("originalTransactionId", "Original transaction") { $0.name.originalTransactionID },
        Field("environment", "Environment") { $0.name.environment },
        Field("publisher", "Publisher") { $0.name.publisher },
        Field("from", "From") { $0.from },
        Field("to", "To") { $0.to },
        Field("fromValidationId", "Taken from") { $0.fromValidation },
        Field("toValidationId", "Given to") { $0.toValidation },
    ]
}
