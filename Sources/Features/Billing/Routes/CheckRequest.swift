import Formats
import HTTPServer
import NIOCore
import Relay
import RelayCore

/// The purchase to check: a receipt or transaction of Apple's, or another store's query.
enum CheckRequest: Sendable, Equatable {
    /// Text no longer than the body.
    case appleReceipt(String)
    case store(ExternalStoreQuery)

    private static let names = FieldNames(
        ["Type", "AppleIapReceipt", "AppleIapTransactionId", "AppleIapBundleId"]
            + StorePlatform.allCases.compactMap(\.iapFields).flatMap {
                [$0.id, $0.detail, $0.product].compactMap(\.self)
            },
        inAnyCase: true)

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
                    "is required: AppleIap with AppleIapReceipt or AppleIapTransactionId, "
                        + StorePlatform.asked.map(\.iapType).joined(separator: ", "))
            } else {
                let types = StorePlatform.allCases.map(\.iapType).joined(separator: ", ")
                reader.add("Type", .invalid, "must be one of \(types): the relay takes no others")
            }
            throw Problem.invalidFields(reader.errors)
        }
        guard platform != .apple || mostReceiptBytes != nil else {
            reader.add(
                "Type", .invalid, "must not be AppleIap: check the receipt first, and order by ExternalSubscriptionId")
            throw Problem.invalidFields(reader.errors)
        }
        if let names = platform.iapFields {
            self = .store(
                ExternalStoreQuery(
                    platform, id: text(names.id), detail: names.detail.map { BundleID(text($0)) },
                    product: names.product.map { ProductID(text($0)) }))
        } else if reader["AppleIapReceipt"] != .absent {
            self = .appleReceipt(text("AppleIapReceipt", characters: mostReceiptBytes ?? 0))
        } else {
            let id = text("AppleIapTransactionId", isRequired: false)
            if id.isEmpty, reader.errors.isEmpty {
                reader.add("AppleIapTransactionId", .required, "or AppleIapReceipt is required")
            }
            let bundle = text("AppleIapBundleId", isRequired: false)
            if reader.errors.isEmpty, id.utf8.count > 64 || !id.utf8.allSatisfy(\.isDigit) {
                reader.add("AppleIapTransactionId", .invalid, "must be of digits")
            }
            self = .store(ExternalStoreQuery(.apple, id: id, detail: bundle.isEmpty ? nil : BundleID(bundle)))
        }
        try reader.end()
    }
}
