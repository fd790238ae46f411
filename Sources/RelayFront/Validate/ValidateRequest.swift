import NIOCore
import RelayCore

/// A client's validation request, with every field validated. Clients send many more fields: prices, devices, products.
struct ValidateRequest: Sendable {
    /// The plugin's names of platforms.
    enum Kind: String, Sendable, CaseIterable {
        /// StoreKit 1: the app receipt.
        case receipt = "ios-appstore"
        /// StoreKit 2: a signed transaction.
        case signedTransaction = "apple-sk2"
        case google = "android-playstore"
        case amazon = "amazon-appstore"
        /// The plugin has no name for Roku; this one labels Roku purchases.
        case roku = "roku-pay"

        /// Kind of the store's purchases, whatever proves them.
        init(_ platform: StorePlatform) {
            switch platform {
            case .apple: self = .receipt
            case .google: self = .google
            case .amazon: self = .amazon
            case .roku: self = .roku
            }
        }
    }

    /// The client's id of the product; echoed.
    var id: String
    var kind: Kind
    var proof: PurchaseProof
    /// Nil: the purchase has no customer yet.
    var username: Username?

    private static let names = FieldNames(
        ["id"],
        within: [
            "transaction": [
                "type", "id", "appStoreReceipt", "jwsRepresentation", "purchaseToken", "receipt", "receiptId", "userId",
            ],
            "additionalData": ["applicationUsername"],
        ])
    private static let receiptNames = FieldNames(StoreReceipt.names)
    /// Longest receipt of Google's; real ones have a few hundred bytes.
    private static let mostReceiptBytes = 16_384

    /// - Parameter app: bundle id or package name of the app's key; empty if it has none.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer, app: BundleID) throws {
        var reader = try FieldReader(body, Self.names)
        let id = reader.optional("id") ?? ""
        let transactionID = reader.optional("transaction.id") ?? ""
        let type = reader.required("transaction.type")
        // Compared by bytes, since it may be as long as the body.
        let kind = type.flatMap { type in Kind.allCases.first { $0 != .roku && $0.rawValue.isSame(type) } }
        if let type, kind == nil {
            let known = Kind.allCases.filter { $0 != .roku }.map(\.rawValue).joined(separator: ", ")
            let start = String(type.unicodeScalars.prefix(40))
            reader.add("transaction.type", .invalid, "\(start) is not validated here: \(known) are")
        }
        func apple(_ name: String) -> PurchaseProof? {
            reader.required(name).map { .apple(.init(receiptData: $0, transactionID: TransactionID(transactionID))) }
        }
        let proof: PurchaseProof? =
            switch kind {
            case .receipt: apple("transaction.appStoreReceipt")
            case .signedTransaction: apple("transaction.jwsRepresentation")
            case .google: Self.google(id: transactionID, product: id, app: app, &reader).map(PurchaseProof.store)
            case .amazon:
                StoreReceipt(of: .amazon, &reader) { ($1["transaction.\($0)"], path: "transaction.\($0)") }
                    .map(PurchaseProof.store)
            case .roku, nil: nil
            }
        let path = "additionalData.applicationUsername"
        let username = reader.optional(reader[path].textOrNumber, path)
        if let username, !username.isEmpty, ApplicationUsername.checked(username) == nil {
            reader.add(path, .tooLong, "must have at most \(ApplicationUsername.mostCharacters) characters")
        }
        guard reader.errors.isEmpty, let kind, let proof else { throw Problem.invalidFields(reader.errors) }
        self.id = id
        self.kind = kind
        self.proof = proof
        self.username = username.flatMap(ApplicationUsername.checked)
    }

    /// Reads Google's receipt, which is JSON within JSON, for the fields of a query to Google. Trusts nothing in it and
    /// skips its signature, since the store is asked.
    ///
    /// - Parameters:
    ///   - id: the order, if the receipt names none.
    ///   - product: the product, if the receipt names none.
    ///   - app: the package, if the receipt names none.
    private static func google(
        id: String, product: String, app: BundleID, _ reader: inout FieldReader
    ) -> StoreReceipt? {
        var receipt = FieldReader()
        if let text = reader.optional("transaction.receipt"), !text.isEmpty {
            guard text.utf8.count <= mostReceiptBytes,
                let read = try? FieldReader(ByteBuffer(string: text), receiptNames)
            else {
                return reader.refuse(
                    "transaction.receipt",
                    "must be the purchase as Google Play gave it: a JSON object of at most \(mostReceiptBytes) bytes")
            }
            receipt = read
        }
        let others = ["orderId": id, "productId": product, "packageName": app.text]
        return StoreReceipt(of: .google, &reader) { name, reader in
            let token = reader["transaction.purchaseToken"]
            if name == "purchaseToken" {
                return (token == .absent ? receipt[name].textOrNumber : token, path: "transaction.purchaseToken")
            }
            var field = receipt[name].textOrNumber
            if field == .absent, let other = others[name], !other.isEmpty { field = .string(other) }
            return (field, path: "transaction.receipt: \(name)")
        }
    }
}
