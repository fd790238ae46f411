import HTTPServer
import RelayCore

/// Policy for the Cleeng API that purchases are sent to.
public enum DriverPolicy: String, Sendable, CaseIterable {
    /// Signed transactions with Cleeng's customer number use StoreKit 2; others are sent as receipts. A transaction that
    /// is not genuine is one of these: the connector gets only its id, so Cleeng could not judge the signature.
    case auto
    case receipt
    case storekit2

    /// - Returns: the driver, and the warnings for the app.
    /// - Throws: ``Problem`` 422 if a field that the driver needs is missing.
    func choose(for request: PurchaseRequest, _ receipt: ReadReceipt) throws -> (PurchaseDriver, [FieldError]) {
        guard let connector = connector(for: request, receipt) else { return (request.proof.driver, []) }
        guard request.cleengCustomer != nil else { throw Problem.invalidFields([Self.withoutCustomer]) }
        return (connector.driver, request.couponCode == nil ? [] : [Self.couponLost(to: connector)])
    }

    /// Whether a purchase must not be sent as a receipt.
    func forcesConnector(for request: PurchaseRequest) -> Bool {
        if case .apple = request.proof { self == .storekit2 } else { false }
    }

    func connector(for request: PurchaseRequest, _ receipt: ReadReceipt) -> Connector? {
        let isNumbered = request.cleengCustomer != nil
        switch (self, request.proof) {
        case (.receipt, _): return nil
        case (.storekit2, .apple): return .storekit2
        case (.auto, .apple):
            let isSigned = receipt.isSignedTransaction && receipt.verification.result != .notGenuine
            return isNumbered && isSigned ? .storekit2 : nil
        // A purchase may be a subscription if the store could not be asked.
        case (_, .store(let sent)):
            return sent.platform == .google && isNumbered && receipt.found?.isSubscription != false ? .google : nil
        }
    }

    private static let withoutCustomer = FieldError(
        "cleengCustomerId", .required,
        "is required: purchases go to Cleeng by StoreKit 2 here, which knows a customer by this number alone")

    private static func couponLost(to connector: Connector) -> FieldError {
        let name =
            switch connector {
            case .storekit2: "StoreKit 2"
            case .google: "the Google Play connector"
            }
        return FieldError(
            "couponCode", .ignored, "the coupon cannot be sent by \(name); the purchase goes on without it")
    }
}
