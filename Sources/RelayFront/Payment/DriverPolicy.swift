import RelayCore

/// Which of Cleeng's APIs purchases are sent to.
public enum DriverPolicy: String, Sendable, CaseIterable {
    /// Signed transactions that name their customer by Cleeng's number go by StoreKit 2, all else as receipts.
    case auto
    case receipt
    case storekit2

    /// - Returns: and the warning for the app.
    /// - Throws: ``Problem`` 422 where what the road needs is missing.
    func choose(for request: PaymentRequest, _ receipt: ReadReceipt) throws -> (PurchaseDriver, [FieldError]) {
        let isByStoreKit2 =
            switch self {
            case .auto: receipt.isSignedTransaction && request.cleengCustomer != nil
            case .receipt: false
            case .storekit2: true
            }
        guard isByStoreKit2 else { return (.receipt, []) }
        guard request.cleengCustomer != nil else { throw Problem.invalidFields([Self.withoutCustomer]) }
        return (.storekit2, request.couponCode == nil ? [] : [Self.couponLost(to: "StoreKit 2")])
    }

    /// For a purchase at another store than Apple's. Only `receipt` keeps one with its customer's number from Cleeng's Google Play connector.
    ///
    /// - Parameter found: what the store says of it; nil where it could not be asked. Then it may be a subscription.
    /// - Returns: and the warning for the app.
    func choose(
        for request: StorePaymentRequest, _ found: ExternalSubscription?
    ) -> (PurchaseDriver, [FieldError]) {
        let isByConnector =
            self != .receipt && request.receipt.driver == .google && request.cleengCustomer != nil
            && found?.isSubscription != false
        guard isByConnector else { return (request.receipt.driver, []) }
        return (.googleV2, request.couponCode == nil ? [] : [Self.couponLost(to: "the Google Play connector")])
    }

    private static let withoutCustomer = FieldError(
        "cleengCustomerId", .required,
        "is required: purchases go to Cleeng by StoreKit 2 here, which knows a customer by this number alone")

    private static func couponLost(to road: String) -> FieldError {
        FieldError("couponCode", .ignored, "the coupon cannot be sent by \(road); the purchase goes on without it")
    }
}
