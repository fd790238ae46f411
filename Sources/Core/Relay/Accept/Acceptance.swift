public import RelayCore
public import Traces

/// The row of a purchase that is being accepted.
public struct Acceptance: Sendable {
    /// The app's `receipt.receiptData`.
    public struct Receipt: Sendable {
        /// True if `bytes` are the text itself. False if they are decoded from base64; encoding them gives exactly the
        /// same text.
        public var isText: Bool
        public var bytes: Private<[UInt8]>

        public init(isText: Bool, bytes: Private<[UInt8]>) {
            self.isText = isText
            self.bytes = bytes
        }
    }

    /// A client's idempotency key for its request.
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
    /// Whether it must not take its subscription from another customer, by the publisher's policy.
    public var keepsOwner = false
    /// Other subscriptions that Cleeng could give to the sender with this one. Stored only if owners keep theirs.
    public var takes: [SubscriptionName] = []
    /// The receipt's period of the subscription, or one for each product that is sold together; empty if it is not trusted
    /// or missing.
    public var periods: [LedgerPeriod]
    /// Cleeng's number of the customer, if the app sent it.
    public var cleengCustomer: Int64?
    public var driver: PurchaseDriver
    public var receipt: Receipt
    /// SHA-256 of publisher, app, customer, offer and receipt bytes. Requests with the same key are the same purchase.
    public var purchaseKey: [UInt8]
    public var idempotencyKey: IdempotencyKey?
    /// Trace of the request, for all later work; see ``StoredTrace``.
    public var trace: String?

    public init(
        id: ValidationID, publisher: PublisherID, app: BundleID, email: CustomerEmail, applicationUsername: Username,
        offerID: OfferID, transactionID: TransactionID, appType: String, ipAddress: String?, couponCode: CouponID?,
        subscriptionKey: TransactionID, environment: StoreEnvironment, productID: ProductID?, bundleID: BundleID?,
        isReceiptReadable: Bool,
        verification: Verification = .notChecked, periods: [LedgerPeriod] = [], cleengCustomer: Int64? = nil,
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
        self.periods = periods
        self.cleengCustomer = cleengCustomer
        self.driver = driver
        self.receipt = receipt
        self.purchaseKey = purchaseKey
        self.idempotencyKey = idempotencyKey
        self.trace = trace
    }

    /// The purchased subscription.
    public var subscription: SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: subscriptionKey)
    }

    /// Approximate size of the row, which bounds a batch.
    var size: Int { receipt.bytes.value.count + 512 }
}

extension Validation {
    /// The validation of a purchase that was just accepted.
    public init(_ acceptance: Acceptance, acceptedAt: Timestamp, deadline: Timestamp) {
        self.init(
            id: acceptance.id, publisher: acceptance.publisher, app: acceptance.app, email: acceptance.email.sent,
            customer: acceptance.email.customer, offerID: acceptance.offerID, status: .pending, acceptedAt: acceptedAt,
            deadline: deadline)
    }
}

/// Outcome of an ``Acceptance``, in each case after the commit.
public enum AcceptOutcome: Sendable, Equatable {
    case created(acceptedAt: Timestamp, deadline: Timestamp)
    /// The purchase is known already, or the Idempotency-Key names this validation.
    case existing(ValidationID)
    /// The Idempotency-Key was used for another body before.
    case idempotencyKeyReused

    var isNew: Bool {
        if case .created = self { true } else { false }
    }
}
