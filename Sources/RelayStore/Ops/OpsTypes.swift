public import RelayCore

/// What ops asks the list of validations for.
public struct ValidationFilter: Sendable {
    public enum Selection: Sendable {
        /// Newest first.
        case all
        /// What is parked for an operator, newest first.
        case parked
        /// What Cleeng has not taken yet, oldest first.
        case waiting
        /// The same, newest first.
        case waitingNewest
    }

    public var status: ValidationStatus?
    public var olderThan: Duration?
    public var customer: CustomerID?
    public var offerID: OfferID?
    public var selection: Selection
    /// As the receipt names it, else as the app does.
    public var originalTransactionID: TransactionID?
    public var limit: Int
    public var cursor: ValidationCursor?

    public init(
        status: ValidationStatus? = nil, olderThan: Duration? = nil, customer: CustomerID? = nil,
        offerID: OfferID? = nil,
        selection: Selection = .all, originalTransactionID: TransactionID? = nil, limit: Int = 50,
        cursor: ValidationCursor? = nil
    ) {
        self.status = status
        self.olderThan = olderThan
        self.customer = customer
        self.offerID = offerID
        self.selection = selection
        self.originalTransactionID = originalTransactionID
        self.limit = limit
        self.cursor = cursor
    }
}

/// Where a page ended: `MICROSECONDS-VALIDATIONID`.
public struct ValidationCursor: Sendable, CustomStringConvertible {
    let acceptedAt: Timestamp
    let id: ValidationID

    public init?(_ text: String) {
        let parts = text.parts(at: "-", maxSplits: 2)
        guard parts.count == 2, let microseconds = Int64(parts[0]), let id = ValidationID(parts[1]),
            let moment = Timestamp(datable: microseconds)
        else { return nil }
        self.init(acceptedAt: moment, id: id)
    }

    init(acceptedAt: Timestamp, id: ValidationID) {
        self.acceptedAt = acceptedAt
        self.id = id
    }

    public var description: String { "\(acceptedAt.microseconds)-\(id)" }
}

/// Since when and why a pursuit is parked.
public struct Parking: Sendable, Equatable {
    public var since: Timestamp
    public var reason: String
}

/// One line of the list.
public struct ListedValidation: Sendable, Equatable {
    public var validation: Validation
    /// Nil where it is not parked.
    public var parking: Parking?

    public var id: ValidationID { validation.id }
}

/// One validation with all that ops sees of it.
public struct ValidationDetail: Sendable {
    public struct Entry: Sendable {
        public var event: TimelineEvent
        public var instance: String
    }

    public struct Transfer: Sendable {
        public var from: CustomerID
        public var to: CustomerID
        public var fromValidation: ValidationID
        public var toValidation: ValidationID
        public var at: Timestamp
    }

    public var validation: Validation
    public var appType: String
    public var couponCode: CouponID?
    public var transactionID: TransactionID
    public var originalTransactionID: TransactionID
    public var environment: StoreEnvironment
    public var productID: ProductID?
    public var bundleID: BundleID?
    public var applicationUsername: Username
    public var isReceiptReadable: Bool
    public var verification: Verification
    public var driver: PurchaseDriver
    /// The customer's number at Cleeng, where the app gave it.
    public var cleengCustomer: Int64?
    public var entitledBefore: Bool?
    public var attempts: Int
    /// JSON.
    public var evidence: String?
    /// When the next step is due, and who holds the lease, while it is pursued.
    public var nextStepAt: Timestamp?
    public var leaseOwner: String?
    /// Nil where it is not parked.
    public var parking: Parking?
    public var transfer: Transfer?
    /// Trace id for the store of spans; nil if the purchase was not traced.
    public var traceID: String?
    public var timeline: [Entry]
}

/// What an operator wanted could not be done.
public enum OpsRefusal: Error, Sendable, Equatable {
    case unknown
    /// Its status does not allow it.
    case status(ValidationStatus)
    /// A newer request for the same subscription has been sent: sending this one would move the subscription back.
    case superseded
    /// A worker is at it this very moment.
    case busy
    /// The receipt is no longer kept.
    case receiptGone
}

/// How things stand.
public struct OpsSummary: Sendable {
    public var countsByStatus: [ValidationStatus: Int]
    /// Age of the oldest that no worker has settled yet; nil where there is none.
    public var oldestPending: Duration?
    /// Nil: no worker runs.
    public var upstream: InstanceReport?
    /// How long ago any worker reported last; nil where none has, or all that did ended in order.
    public var workerSeen: Duration?
    public var backlog: Backlog
    public var notifications: NotificationBacklog
    public var webhooks: WebhookBacklog
    public var parkedItems = ParkedItems()
    /// The stores that are in use.
    public var stores: [StoreStanding] = []
    public var consumption = ConsumptionBacklog()
    /// How many subscriptions have each problem of ``AccessProblem/quick``.
    public var accessProblems: [AccessProblem: Int] = [:]
    /// Tables that are missing although their migrations were applied.
    public var missingTables: [String] = []

    public struct Backlog: Sendable {
        /// Not taken by Cleeng yet.
        public var forwarding: Int
        /// Access is waited for.
        public var watching: Int
        /// Parked for an operator.
        public var parked: Int
        /// Due and not claimed by any worker.
        public var overdue: Int
        /// Age of the oldest that Cleeng has not taken.
        public var oldestForwarding: Duration?
        /// For how long the first of those parked has been so.
        public var oldestParked: Duration?
        /// Customers whose publisher has not been notified yet.
        public var outbox: Int
    }
}
