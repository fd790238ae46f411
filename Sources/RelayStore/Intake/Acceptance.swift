public import RelayCore
public import Traces

/// One purchase on its way into the database: everything of it that is kept.
public struct Acceptance: Sendable {
    /// What the app sent as `receipt.receiptData`.
    public struct Receipt: Sendable {
        /// True where `bytes` are the text itself; false where they are what its base64 stands for, and encoding them again
        /// gives the very same text.
        public var isText: Bool
        public var bytes: Private<[UInt8]>

        public init(isText: Bool, bytes: Private<[UInt8]>) {
            self.isText = isText
            self.bytes = bytes
        }
    }

    /// The client's own name for this request.
    public struct IdempotencyKey: Sendable {
        public var bucket: Bucket
        public var apiKey: APIKeyID
        /// SHA-256 of the header's value.
        public var digest: [UInt8]
        /// SHA-256 of the body.
        public var fingerprint: [UInt8]

        public init(bucket: Bucket, apiKey: APIKeyID, digest: [UInt8], fingerprint: [UInt8]) {
            self.bucket = bucket
            self.apiKey = apiKey
            self.digest = digest
            self.fingerprint = fingerprint
        }
    }

    public var id: ValidationID
    public var publisher: PublisherID
    public var app: BundleID
    public var email: CustomerEmail
    public var applicationUsername: Username
    public var offerID: OfferID
    public var transactionID: TransactionID
    public var appType: String
    public var ipAddress: Private<String>?
    public var couponCode: CouponID?
    public var subscriptionKey: TransactionID
    public var environment: StoreEnvironment
    public var productID: ProductID?
    public var bundleID: BundleID?
    public var isReceiptReadable: Bool
    public var verification: Verification
    /// It takes its subscription from no other customer: their publisher's policy says so.
    public var keepsOwner = false
    /// What the receipt says of its subscription; nil where it is not to be believed, or says nothing.
    public var period: LedgerPeriod?
    /// The customer's number at Cleeng, where the app knows it.
    public var cleengCustomer: Int64?
    public var driver: PurchaseDriver
    public var receipt: Receipt
    /// SHA-256 of publisher, app, customer, offer and receipt bytes: what makes two requests the same purchase.
    public var purchaseKey: [UInt8]
    public var idempotencyKey: IdempotencyKey?
    /// Trace of the request, for all work that follows; see ``StoredTrace``.
    public var trace: String?

    public init(
        id: ValidationID, publisher: PublisherID, app: BundleID, email: CustomerEmail, applicationUsername: Username,
        offerID: OfferID, transactionID: TransactionID, appType: String, ipAddress: String?, couponCode: CouponID?,
        subscriptionKey: TransactionID, environment: StoreEnvironment, productID: ProductID?, bundleID: BundleID?,
        isReceiptReadable: Bool,
        verification: Verification = .notChecked, period: LedgerPeriod? = nil, cleengCustomer: Int64? = nil,
        driver: PurchaseDriver = .receipt, receipt: Receipt, purchaseKey: [UInt8], idempotencyKey: IdempotencyKey?,
        trace: String? = StoredTrace.current
    ) {
        self.id = id
        self.publisher = publisher
        self.app = app
        self.email = email
        self.applicationUsername = applicationUsername
        self.offerID = offerID
        self.transactionID = transactionID
        self.appType = appType
        self.ipAddress = Private(ipAddress)
        self.couponCode = couponCode
        self.subscriptionKey = subscriptionKey
        self.environment = environment
        self.productID = productID
        self.bundleID = bundleID
        self.isReceiptReadable = isReceiptReadable
        self.verification = verification
        self.period = period
        self.cleengCustomer = cleengCustomer
        self.driver = driver
        self.receipt = receipt
        self.purchaseKey = purchaseKey
        self.idempotencyKey = idempotencyKey
        self.trace = trace
    }

    /// The subscription that was bought.
    public var subscription: SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: subscriptionKey)
    }

    /// What the row weighs, roughly, for bounding a batch.
    var size: Int { receipt.bytes.value.count + 512 }
}

extension Validation {
    /// Makes the validation of a purchase that was just accepted.
    public init(_ acceptance: Acceptance, acceptedAt: Timestamp, deadline: Timestamp) {
        self.init(
            id: acceptance.id, publisher: acceptance.publisher, app: acceptance.app, email: acceptance.email.sent,
            customer: acceptance.email.customer, offerID: acceptance.offerID, status: .pending, acceptedAt: acceptedAt,
            deadline: deadline)
    }
}

/// Outcome of an ``Acceptance``. All three are after the commit.
public enum AcceptOutcome: Sendable, Equatable {
    case created(acceptedAt: Timestamp, deadline: Timestamp)
    /// The same purchase is known already, or the Idempotency-Key names this one.
    case existing(ValidationID)
    /// The Idempotency-Key was used for another body before.
    case idempotencyKeyReused

    var isNew: Bool {
        if case .created = self { true } else { false }
    }
}
