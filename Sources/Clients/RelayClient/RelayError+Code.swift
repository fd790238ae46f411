extension RelayError {
    /// Stable code of the failure. Not a closed set: a newer relay may use further ones.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        // MARK: The client's own

        /// No connection: nothing was sent.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The connection was lost, or no answer came in time.
        public static let connectionLost = Code(rawValue: "connection_lost")
        /// The answer is not in the relay's format.
        public static let notUnderstood = Code(rawValue: "not_understood")
        /// The wait ended without a final state.
        public static let noOutcome = Code(rawValue: "no_outcome")
        /// The app's closure returned no customer token.
        public static let noCustomerToken = Code(rawValue: "no_customer_token")

        // MARK: The relay's

        /// 422: ``RelayError/errors`` names each wrong field.
        public static let invalidFields = Code(rawValue: "invalid_fields")
        /// 422: the key was used for another purchase before.
        public static let idempotencyKeyReused = Code(rawValue: "idempotency_key_reused")
        /// 409: another customer owns the subscription and keeps it.
        public static let ownedByAnother = Code(rawValue: "owned_by_another")
        /// 422: this relay accepts only receipts that the store verifiably signed.
        public static let receiptNotGenuine = Code(rawValue: "receipt_not_genuine")
        /// 401: the app's key does not exist, or was revoked.
        public static let unknownKey = Code(rawValue: "unknown_key")
        /// 403: the key does not have the role `app`.
        public static let wrongRole = Code(rawValue: "wrong_role")
        /// 401: this relay requires a customer token.
        public static let customerTokenRequired = Code(rawValue: "customer_token_required")
        /// 401: the token's signature, times or email are invalid.
        public static let invalidCustomerToken = Code(rawValue: "invalid_customer_token")
        /// 403: the token belongs to another customer.
        public static let anotherCustomer = Code(rawValue: "another_customer")
        /// 404: unknown validation, or one of another app.
        public static let unknownValidation = Code(rawValue: "unknown_validation")
        /// 413: the receipt is too large for this relay.
        public static let bodyTooLarge = Code(rawValue: "body_too_large")
        /// 503: try again.
        public static let databaseUnavailable = Code(rawValue: "database_unavailable")
        /// 503: nothing was stored; try again.
        public static let overloaded = Code(rawValue: "overloaded")
        /// 503: nothing was stored; try again.
        public static let customerKeysUnavailable = Code(rawValue: "customer_keys_unavailable")
    }
}
