extension RelayError {
    /// What went wrong, in one word that stays the same. Not a closed set: a newer relay may have further ones.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        // MARK: The client's own

        /// No connection: nothing was sent.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The connection was lost, or no answer came in time.
        public static let connectionLost = Code(rawValue: "connection_lost")
        /// The answer is not one of the relay's.
        public static let notUnderstood = Code(rawValue: "not_understood")
        /// The wait is over, and no final state came.
        public static let noOutcome = Code(rawValue: "no_outcome")
        /// The app's own closure gave no customer token.
        public static let noCustomerToken = Code(rawValue: "no_customer_token")

        // MARK: The relay's

        /// 422: ``RelayError/errors`` names each wrong field.
        public static let invalidFields = Code(rawValue: "invalid_fields")
        /// 422: the key named another purchase before.
        public static let idempotencyKeyReused = Code(rawValue: "idempotency_key_reused")
        /// 409: another customer has the subscription, and keeps it.
        public static let ownedByAnother = Code(rawValue: "owned_by_another")
        /// 422: this relay takes receipts only that are shown to be the store's.
        public static let receiptNotGenuine = Code(rawValue: "receipt_not_genuine")
        /// 401: the app's key was never made, or has been revoked.
        public static let unknownKey = Code(rawValue: "unknown_key")
        /// 403: the key is not one for apps.
        public static let wrongRole = Code(rawValue: "wrong_role")
        /// 401: this relay asks who the customer is.
        public static let customerTokenRequired = Code(rawValue: "customer_token_required")
        /// 401: the token's signature, times or email do not hold.
        public static let invalidCustomerToken = Code(rawValue: "invalid_customer_token")
        /// 403: the token is another customer's.
        public static let anotherCustomer = Code(rawValue: "another_customer")
        /// 404: no such validation, or not of this app.
        public static let unknownValidation = Code(rawValue: "unknown_validation")
        /// 413: the receipt is too large for this relay.
        public static let bodyTooLarge = Code(rawValue: "body_too_large")
        /// 503: try again.
        public static let databaseUnavailable = Code(rawValue: "database_unavailable")
        /// 503: nothing was taken in; try again.
        public static let overloaded = Code(rawValue: "overloaded")
        /// 503: nothing was taken in; try again.
        public static let customerKeysUnavailable = Code(rawValue: "customer_keys_unavailable")
    }
}
