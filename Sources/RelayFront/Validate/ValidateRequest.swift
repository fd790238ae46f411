import RelayCore

/// What a client asks to have validated, every field judged.
struct ValidateRequest: Sendable {
    /// As the plugin names platforms.
    enum Kind: String, Sendable, CaseIterable {
        /// StoreKit 1: the app receipt.
        case receipt = "ios-appstore"
        /// StoreKit 2: a signed transaction.
        case signedTransaction = "apple-sk2"
        case google = "android-playstore"
        case amazon = "amazon-appstore"

        /// Of the store's purchases, whatever they were shown by.
        init(_ platform: StorePlatform) {
            switch platform {
            case .apple: self = .receipt
            case .google: self = .google
            case .amazon: self = .amazon
            }
        }
    }

    /// By what it is to be shown that it was bought.
    enum Proof: Sendable {
        /// What the App Store gave the app, which speaks for itself.
        case apple(String)
        /// What another store is asked by.
        case store(StoreReceipt)
    }

    var id: String
    var kind: Kind
    /// The app's own; empty where it names none.
    var transactionID: TransactionID
    var proof: Proof
    /// Nil: the purchase is nobody's yet.
    var username: Username?

    /// - Parameter app: the bundle id or package name of the app's key; empty where it has none.
    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: ValidateBody, app: BundleID) throws {
        var reader = FieldReader()
        let id = reader.optional(body.id, "id") ?? ""
        let transactionID = reader.optional(body.transaction.id, "transaction.id") ?? ""
        let type = reader.required(body.transaction.type, "transaction.type")
        let kind = type.flatMap(Kind.init)
        if let type, kind == nil {
            reader.add(
                FieldError(
                    "transaction.type", .invalid,
                    "\(String(type.prefix(40))) is not validated here: "
                        + Kind.allCases.map(\.rawValue).joined(separator: ", ") + " are"))
        }
        var proof: Proof?
        switch kind {
        case .receipt:
            proof = reader.required(body.transaction.appStoreReceipt, "transaction.appStoreReceipt").map(Proof.apple)
        case .signedTransaction:
            proof = reader.required(body.transaction.signedTransaction, "transaction.jwsRepresentation")
                .map(Proof.apple)
        case .google:
            proof = Self.google(body.transaction, id: transactionID, product: id, app: app, &reader).map(Proof.store)
        case .amazon: proof = Self.amazon(body.transaction, &reader).map(Proof.store)
        case nil: break
        }
        let username = reader.optional(body.applicationUsername, "additionalData.applicationUsername")
        if let username, !username.isEmpty, ApplicationUsername.checked(username) == nil {
            reader.add(
                FieldError(
                    "additionalData.applicationUsername", .tooLong,
                    "must have at most \(ApplicationUsername.mostCharacters) characters"))
        }
        guard reader.errors.isEmpty, let kind, let proof else { throw Problem.invalidFields(reader.errors) }
        self.id = id
        self.kind = kind
        self.transactionID = TransactionID(transactionID)
        self.proof = proof
        self.username = username.flatMap(ApplicationUsername.checked)
    }
}
