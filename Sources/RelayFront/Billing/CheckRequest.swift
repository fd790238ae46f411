import NIOCore
import RelayCore

/// What is to be checked: of Apple a receipt or a transaction, of the other stores what they are asked by.
enum CheckRequest: Sendable, Equatable {
    /// Text of at most the body's length.
    case appleReceipt(String)
    case store(ExternalStoreQuery)

    static let names = [
        "Type", "AppleIapReceipt", "AppleIapTransactionId", "AppleIapBundleId", "GoogleIapPackageName",
        "GoogleIapSubscriptionId", "GoogleIapToken", "AmazonIapReceiptId", "AmazonIapUserId",
    ]

    /// Longer tokens have not been seen; receipts are as long as the body.
    private static let mostCharacters = 4_096

    /// - Parameters:
    ///   - path: where it stands in the body: empty, or `ExternalCart.`.
    ///   - mostReceiptBytes: of Apple's receipt.
    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: BodyObject, path: String = "", mostReceiptBytes: Int = 0) throws {
        var errors: [FieldError] = []
        func text(_ name: String, isRequired: Bool = true) -> String {
            let text = body.text(
                name, path: path, characters: name == "AppleIapReceipt" ? mostReceiptBytes : Self.mostCharacters,
                &errors)
            if text?.isEmpty ?? (body[name] == nil), isRequired { errors.append(.required(path + name)) }
            return text ?? ""
        }
        let type = text("Type", isRequired: false)
        if type.isEmpty, errors.isEmpty {
            errors.append(
                FieldError(
                    path + "Type", .required,
                    "is required: AppleIap with AppleIapReceipt or AppleIapTransactionId, GoogleIap, or AmazonIap"))
        }
        guard errors.isEmpty else { throw Problem.invalidFields(errors) }
        guard let platform = StorePlatform(iapType: type) else {
            throw Problem.invalidFields([
                FieldError(
                    path + "Type", .invalid, "must be AppleIap, GoogleIap or AmazonIap: the relay takes no others")
            ])
        }
        switch platform {
        case .apple:
            if body["AppleIapReceipt"] != nil {
                self = .appleReceipt(text("AppleIapReceipt"))
            } else {
                let id = text("AppleIapTransactionId", isRequired: false)
                if id.isEmpty, errors.isEmpty {
                    errors.append(
                        FieldError(path + "AppleIapTransactionId", .required, "or AppleIapReceipt is required"))
                }
                let bundle = text("AppleIapBundleId", isRequired: false)
                if errors.isEmpty, id.utf8.count > 64 || !id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                    errors.append(FieldError(path + "AppleIapTransactionId", .invalid, "must be of digits"))
                }
                self = .store(
                    .apple(transactionID: TransactionID(id), bundleID: bundle.isEmpty ? nil : BundleID(bundle)))
            }
        case .google:
            self = .store(
                .google(
                    packageName: BundleID(text("GoogleIapPackageName")),
                    subscriptionID: text("GoogleIapSubscriptionId"),
                    token: text("GoogleIapToken")))
        case .amazon:
            self = .store(.amazon(receiptID: text("AmazonIapReceiptId"), userID: text("AmazonIapUserId")))
        }
        guard errors.isEmpty else { throw Problem.invalidFields(errors) }
    }
}
