import RelayCore

/// By which road purchases go to Cleeng.
public enum DriverPolicy: String, Sendable, CaseIterable {
    /// By StoreKit 2 what is a signed transaction and names its customer by Cleeng's number, all else as a receipt.
    case auto
    case receipt
    case storekit2

    /// - Returns: and what the app is told about it.
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
        return (.storekit2, request.couponCode == nil ? [] : [Self.withoutCoupon])
    }

    private static let withoutCustomer = FieldError(
        "cleengCustomerId", .required,
        "is required: purchases go to Cleeng by StoreKit 2 here, which knows a customer by this number alone")

    private static let withoutCoupon = FieldError(
        "couponCode", .ignored, "the coupon cannot be sent by StoreKit 2; the purchase goes on without it")
}
