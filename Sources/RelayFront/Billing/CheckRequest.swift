import NIOCore
import RelayCore

/// The purchase to check: a receipt or transaction of Apple's, or another store's query.
enum CheckRequest: Sendable, Equatable {
    /// Text no longer than the body.
    case appleReceipt(String)
    case store(ExternalStoreQuery)

    private static let names = FieldNames(
        [
            "Type", "AppleIapReceipt", "AppleIapTransactionId", "AppleIapBundleId", "GoogleIapPackageName",
            "GoogleIapSubscriptionId", "GoogleIapToken", "AmazonIapReceiptId", "AmazonIapUserId",
            "RokuPayTransactionId",
        ], inAnyCase: true)

    /// No longer tokens are known. Receipts may be as long as the body.
    private static let mostCharacters = 4_096

    /// - Parameters:
    ///   - path: prefix of the fields' names if it is part of another body: `ExternalCart.`.
    ///   - mostReceiptBytes: bound of Apple's receipt; nil refuses Apple's purchases.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer, in path: String = "", mostReceiptBytes: Int?) throws {
        var reader = try FieldReader(body, Self.names, in: path)
        func text(_ name: String, characters: Int = Self.mostCharacters, isRequired: Bool = true) -> String {
            let text = reader.text(name, characters: characters)
            if isRequired, text?.isEmpty ?? (reader[name] == .absent) { reader.add(name, .required, "is required") }
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
        guard platform != .apple || mostReceiptBytes != nil else {
            reader.add(
                "Type", .invalid, "must not be AppleIap: check the receipt first, and order by ExternalSubscriptionId")
            throw Problem.invalidFields(reader.errors)
        }
        switch platform {
        case .apple where reader["AppleIapReceipt"] != .absent:
            self = .appleReceipt(text("AppleIapReceipt", characters: mostReceiptBytes ?? 0))
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
