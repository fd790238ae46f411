import RelayCore

/// What is to be checked: of Apple a receipt or a transaction, of the other stores what they are asked by.
enum CheckRequest: Sendable, Equatable {
    /// Text of at most the body's length.
    case appleReceipt(String)
    case store(ExternalStoreQuery)

    static let names = [
        "Type", "AppleIapReceipt", "AppleIapTransactionId", "AppleIapBundleId", "GoogleIapPackageName",
        "GoogleIapSubscriptionId", "GoogleIapToken", "AmazonIapReceiptId", "AmazonIapUserId",
        "RokuPayTransactionId",
    ]

    /// Longer tokens have not been seen; receipts are as long as the body.
    private static let mostCharacters = 4_096

    /// - Parameters:
    ///   - path: where it stands in the body: empty, or `ExternalCart.`.
    ///   - mostReceiptBytes: of Apple's receipt.
    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ fields: JSONFields, path: String = "", mostReceiptBytes: Int = 0) throws {
        var reader = FieldReader(fields, in: path)
        func text(_ name: String, isRequired: Bool = true) -> String {
            let text = reader.text(
                name, characters: name == "AppleIapReceipt" ? mostReceiptBytes : Self.mostCharacters)
            if isRequired, text?.isEmpty ?? (fields[name] == .absent) { reader.add(name, .required, "is required") }
            return text ?? ""
        }
        let type = text("Type", isRequired: false)
        try reader.end()
        guard let platform = StorePlatform(iapType: type) else {
            if type.isEmpty {
                reader.add(
                    "Type", .required,
                    "is required: AppleIap with AppleIapReceipt or AppleIapTransactionId, GoogleIap, AmazonIap, or RokuPay"
                )
            } else {
                reader.add(
                    "Type", .invalid, "must be AppleIap, GoogleIap, AmazonIap or RokuPay: the relay takes no others")
            }
            throw Problem.invalidFields(reader.errors)
        }
        switch platform {
        case .apple where fields["AppleIapReceipt"] != .absent: self = .appleReceipt(text("AppleIapReceipt"))
        case .apple:
            let id = text("AppleIapTransactionId", isRequired: false)
            if id.isEmpty, reader.errors.isEmpty {
                reader.add("AppleIapTransactionId", .required, "or AppleIapReceipt is required")
            }
            let bundle = text("AppleIapBundleId", isRequired: false)
            if reader.errors.isEmpty, id.utf8.count > 64 || !id.utf8.allSatisfy(\.isDigit) {
                reader.add("AppleIapTransactionId", .invalid, "must be of digits")
            }
            self = .store(
                .apple(transactionID: TransactionID(id), bundleID: bundle.isEmpty ? nil : BundleID(bundle)))
        case .google:
            self = .store(
                .google(
                    packageName: BundleID(text("GoogleIapPackageName")),
                    subscriptionID: text("GoogleIapSubscriptionId"),
                    token: text("GoogleIapToken")))
        case .amazon:
            self = .store(.amazon(receiptID: text("AmazonIapReceiptId"), userID: text("AmazonIapUserId")))
        case .roku: self = .store(.roku(transactionID: text("RokuPayTransactionId")))
        }
        try reader.end()
    }
}
