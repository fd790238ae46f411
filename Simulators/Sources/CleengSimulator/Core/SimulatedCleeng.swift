/// The stand-in's whole state and all its rules, without input or output: calls go in with a time, verdicts come out.
///
/// Grants need no timer. Each call first takes off the agenda what has become due (``advance(to:)``), so that every
/// answer is as of its own time, and grants, transfers and lapses take effect in the order of their times.
struct SimulatedCleeng: Sendable {
    /// What an email that nobody knows is answered on entitlement reads. Cleeng does not document it.
    enum UnknownCustomerAnswer: String, Codable, Sendable {
        case empty
        case notFound
    }

    let settings: Settings
    var now = Moment(microseconds: 0)
    var customers: BoundedTable<CustomerEmail, Customer>
    var emailsById: [Int: CustomerEmail] = [:]
    var subscriptions: BoundedTable<String, Subscription>
    var offerTags: BoundedTable<OfferId, [String]>
    /// What was told of StoreKit 2 transactions, by their ids.
    var transactions: BoundedTable<String, StoreTransaction>
    var synchronizations: SynchronizationTable
    var agenda = Agenda<PendingGrant>()
    var settlements = Agenda<Settlement>()
    var lapses = Agenda<Lapse>()
    /// Receipts that were sent once more, and of which nobody has been told yet.
    var repeatedReceipts = Agenda<RepeatedReceipt>()
    /// Where events go; nil: nowhere.
    var webhooks: WebhookTarget?
    var outbox: WebhookOutbox
    var requests: RequestLog
    var forwards: ForwardTracker
    var counters = Counters()
    /// For customers without behaviour of their own.
    var standard = Behaviour()
    /// Grows with each new default.
    var standardGeneration = 0
    /// What befalls everybody.
    var upstream = Behaviour()
    var unknownCustomer = UnknownCustomerAnswer.empty
    /// Grows with each reset.
    private(set) var generation = 0
    private var lastCustomerId = 100_000_000
    private var lastSubscriptionId = 1_000_000
    private var lastGrantSequence = 0

    init(settings: Settings = Settings()) {
        self.settings = settings
        customers = BoundedTable(capacity: settings.customerCapacity)
        subscriptions = BoundedTable(capacity: settings.subscriptionCapacity)
        offerTags = BoundedTable(capacity: 10_000)
        transactions = BoundedTable(capacity: settings.transactionCapacity)
        synchronizations = SynchronizationTable(capacity: settings.synchronizationCapacity)
        webhooks = settings.webhooks
        outbox = WebhookOutbox(capacity: settings.webhookCapacity)
        requests = RequestLog(capacity: settings.requestCapacity)
        forwards = ForwardTracker(capacity: 2 * settings.subscriptionCapacity)
    }

    /// Brings everything up to a time: grants, synchronizations and lapses that have become due take effect, in order.
    mutating func advance(to moment: Moment) {
        now = max(now, moment)
        while let due = agenda.popDue(at: now) {
            settle(before: (due.grantAt, due.sequence))
            catchUp(to: due.grantAt)
            grant(due)
        }
        settle(before: (now, .max))
        tellOfRepeats(until: now)
        lapse(until: now)
    }

    /// Lets happen what comes before something that is due at a time.
    mutating func catchUp(to moment: Moment) {
        // Only what comes before: a repeat of a grant follows it.
        tellOfRepeats(until: Moment(microseconds: moment.microseconds - 1))
        lapse(until: moment)
    }

    /// Forgets everything, the default, the upstream trouble and the events that wait included. Ids begin anew; request numbers go on, so
    /// that a request that is still under way finds no foreign entry.
    mutating func reset() {
        let (time, log, number) = (now, requests, generation + 1)
        self = SimulatedCleeng(settings: settings)
        (now, generation) = (time, number)
        requests = log
        requests.removeAll()
    }

    mutating func makeCustomerId() -> Int {
        lastCustomerId += 1
        return lastCustomerId
    }

    mutating func makeSubscriptionId() -> Int {
        lastSubscriptionId += 1
        return lastSubscriptionId
    }

    mutating func makeGrantSequence() -> Int {
        lastGrantSequence += 1
        return lastGrantSequence
    }
}
