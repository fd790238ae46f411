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
        switch (self, request.cleengCustomer) {
        case (.receipt, _): return (.receipt, [])
        case (.storekit2, nil):
            throw Problem.invalidFields([
                FieldError(
                    Self.field, .required,
                    "is required: purchases go to Cleeng by StoreKit 2 here, which knows a customer by that number alone")
            ])
        case (.storekit2, .some): return (.storekit2, Self.warnings(request))
        case (.auto, nil) where receipt.signedTransactionID != nil:
            let warning = FieldError(
                Self.field, .required,
                "is missing: the transaction goes to Cleeng as a receipt; send the customer's number at Cleeng with it and it goes by StoreKit 2"
            )
            return (.receipt, [warning])
        case (.auto, nil): return (.receipt, [])
        case (.auto, .some):
            guard receipt.signedTransactionID != nil else { return (.receipt, []) }
            return (.storekit2, Self.warnings(request))
        }
    }

    private static let field = "cleengCustomerId"

    private static func warnings(_ request: PaymentRequest) -> [FieldError] {
        guard request.couponCode != nil else { return [] }
        return [
            FieldError(
                "couponCode", .ignored,
                "the coupon cannot be sent by StoreKit 2; the purchase goes on without it")
        ]
    }
}
