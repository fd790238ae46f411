import Formats
public import RelayCore

/// Selection of validations for the operators' list.
public struct ValidationFilter: Sendable {
    public enum Selection: Sendable {
        /// All, newest first.
        case all
        /// Parked for an operator, newest first.
        case parked
        /// Not accepted by Cleeng yet, oldest first.
        case waiting
        /// Not accepted by Cleeng yet, newest first.
        case waitingNewest
    }

    public var status: ValidationStatus?
    public var olderThan: Duration?
    public var customer: CustomerID?
    public var offerID: OfferID?
    public var selection: Selection
    /// The transaction id in the receipt, or the app's if the receipt is unreadable.
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

/// End of a page: `MICROSECONDS-VALIDATIONID`.
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

/// Time and reason of a pursuit's parking.
public struct Parking: Sendable, Equatable {
    public var since: Timestamp
    public var reason: String
}

/// One row of the list.
public struct ListedValidation: Sendable, Equatable {
    public var validation: Validation
    /// Nil if the pursuit is not parked.
    public var parking: Parking?

    public var id: ValidationID { validation.id }
}

/// One validation with all data for operators.
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
    /// The customer's number at Cleeng, if the app sent it.
    public var cleengCustomer: Int64?
    public var entitledBefore: Bool?
    public var attempts: Int
    /// Evidence as JSON.
    public var evidence: String?
    /// Time of the next step and the lease's owner, while the pursuit exists.
    public var nextStepAt: Timestamp?
    public var leaseOwner: String?
    /// Nil if the pursuit is not parked.
    public var parking: Parking?
    public var transfer: Transfer?
    /// Trace id for the store of spans; nil if the purchase was not traced.
    public var traceID: String?
    public var timeline: [Entry]
}

/// Why an operator's action on a validation is refused.
public enum OpsRefusal: Error, Sendable, Equatable {
    case unknown
    /// The validation's status does not allow the action.
    case status(ValidationStatus)
    /// Cleeng has received a newer request for the same subscription. Sending this one would move the subscription
    /// back.
    case superseded
    /// A worker is processing the pursuit at this moment.
    case busy
    /// The receipt is no longer stored.
    case receiptGone
}

/// Summary of the relay's present state.
public struct OpsSummary: Sendable {
    public var countsByStatus: [ValidationStatus: Int]
    /// Age of the oldest validation that no worker has settled; nil if there is none.
    public var oldestPending: Duration?
    /// Nil if no worker runs.
    public var upstream: InstanceReport?
    /// Time since the last report of any worker. Nil if there was none, or if all reporting workers have shut down in
    /// order.
    public var workerSeen: Duration?
    public var backlog: Backlog
    public var notifications: NotificationBacklog
    public var webhooks: WebhookBacklog
    public var parkedItems = ParkedItems()
    /// Stores in use.
    public var stores: [StoreHealth] = []
    public var consumption = ConsumptionBacklog()
    /// Number of subscriptions with each problem of ``AccessProblem/quick``.
    public var accessProblems: [AccessProblem: Int] = [:]
    /// Tables that are missing although their migrations were applied.
    public var missingTables: [String] = []

    public struct Backlog: Sendable {
        /// Pursuits that Cleeng has not accepted yet.
        public var forwarding: Int
        /// Pursuits that Cleeng has accepted and that wait for access.
        public var watching: Int
        /// Pursuits that are parked for an operator.
        public var parked: Int
        /// Pursuits that are due and not claimed by any worker.
        public var overdue: Int
        /// Age of the oldest pursuit that Cleeng has not accepted.
        public var oldestForwarding: Duration?
        /// Time since the earliest parking of a parked pursuit.
        public var oldestParked: Duration?
        /// Customers whose changes have not been queued for their publishers yet.
        public var outbox: Int
    }
}
