public import Foundation

/// What renewal information is to say, under the names of Apple's `JWSRenewalInfoDecodedPayload`. What is nil is left out.
public struct SimulatedRenewal: Sendable, Hashable, Encodable {
    public var originalTransactionId: String
    public var productId: String
    /// Another one after a downgrade.
    public var autoRenewProductId: String
    /// 1: it will renew, 0: it will not.
    public var autoRenewStatus: Int
    /// Why it ended: 1 turned off, 2 not paid, 3 no consent to a higher price, 4 no longer sold, 5 something else.
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Date?
    /// 0: consent to a higher price is asked for, 1: it was given.
    public var priceIncreaseStatus: Int?
    public var environment: String

    /// - Parameter autoRenewProductId: without it, the product itself.
    public init(
        originalTransactionId: String, productId: String, autoRenewProductId: String? = nil, autoRenewStatus: Int = 1,
        expirationIntent: Int? = nil, isInBillingRetryPeriod: Bool? = nil, gracePeriodExpiresDate: Date? = nil,
        priceIncreaseStatus: Int? = nil, environment: String = "Sandbox"
    ) {
        self.originalTransactionId = originalTransactionId
        self.productId = productId
        self.autoRenewProductId = autoRenewProductId ?? productId
        self.autoRenewStatus = autoRenewStatus
        self.expirationIntent = expirationIntent
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.priceIncreaseStatus = priceIncreaseStatus
        self.environment = environment
    }

    /// What ``StoreAuthority/sign(json:algorithm:certificates:)`` takes.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}
