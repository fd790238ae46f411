import SimulatorKit

/// The simulator's whole state and rules, without input or output: calls go in with a time, verdicts come out.
///
/// Grants need no timer. Each call first processes what has become due (``advance(to:)``). So every answer is as of its
/// own time, and grants, transfers and lapses take effect in the order of their times.
struct SimulatedCleeng: Sendable {
    /// Answer to entitlement reads for an unknown email, which Cleeng does not document.
    enum UnknownCustomerAnswer: String, Codable, Sendable {
        case empty
        case notFound
    }

    let settings: SimulatorSettings
    var now = SimulatedTime(microseconds: 0)
    var customers: BoundedTable<EmailAddress, Customer>
    var emailsById: [Int: EmailAddress] = [:]
    var subscriptions: BoundedTable<String, Subscription>
    var offerTags: BoundedTable<OfferId, [String]>
    /// StoreKit 2 transactions and Google purchase tokens from the control API, by id.
    var transactions: BoundedTable<String, StoreTransaction>
    var synchronizations: SynchronizationTable
    var agenda = Agenda<PendingGrant>()
    var settlements = Agenda<PendingSynchronization>()
    var lapses = Agenda<Lapse>()
    /// Repeated receipts whose events are not sent yet.
    var repeatedReceipts = Agenda<RepeatedReceipt>()
    /// Address for events; nil: none are sent.
    var webhooks: WebhookTarget?
    var outbox: WebhookOutbox
    var requests: RequestLog<LoggedRequest>
    var forwards: ForwardTracker
    var counters = Counters()
    /// Behaviour of customers without their own.
    var standard = Behaviour()
    /// Increases with each new default.
    var standardGeneration = 0
    /// Behaviour for all customers.
    var upstream = Behaviour()
    var unknownCustomer = UnknownCustomerAnswer.empty
    /// Increases with each reset.
    private(set) var generation = 0
    private var lastCustomerId = 100_000_000
    private var lastSubscriptionId = 1_000_000
    private var lastGrantSequence = 0

    init(settings: SimulatorSettings = SimulatorSettings()) {
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

    /// Advances the state to a time: grants, synchronizations and lapses that have become due take effect, in order.
    mutating func advance(to moment: SimulatedTime) {
        now = max(now, moment)
        while let due = agenda.popDue(at: now) {
            settle(before: (due.grantAt, due.sequence))
            catchUp(to: due.grantAt)
            grant(due)
        }
        settle(before: (now, .max))
        publishRepeats(until: now)
        lapse(until: now)
    }

    /// Processes everything that precedes an event at this time.
    mutating func catchUp(to moment: SimulatedTime) {
        // Only earlier ones: a repeat of a grant follows the grant.
        publishRepeats(until: SimulatedTime(microseconds: moment.microseconds - 1))
        lapse(until: moment)
    }

    /// Deletes all state, including the default, the upstream trouble and waiting events. Ids start again. Request
    /// numbers continue, so that a request in progress finds no other request's entry.
    mutating func reset() {
        let (time, log, number) = (now, requests, generation + 1)
        self = SimulatedCleeng(settings: settings)
        (now, generation) = (time, number)
        requests = log
        requests.removeAll(recount: true)
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

/// Settings of the simulator's start.
struct SimulatorSettings: Sendable {
    /// Time between an accepted payment and its grant, unless behaviour says otherwise.
    var grantAfterMilliseconds: Int64 = 1_000
    /// What `+entitled` customers hold.
    var heldOffers: [OfferId] = ["S123456789_US", "S598742062_US"].compactMap { OfferId($0) }
    /// Offer of a connector's purchase that no call has described.
    var storeKit2Offer = OfferId.standard
    /// Number of requests that `/_simulator/requests` holds.
    var requestCapacity = 100_000
    var customerCapacity = 500_000
    var subscriptionCapacity = 500_000
    var transactionCapacity = 500_000
    var synchronizationCapacity = 500_000
    /// Limit of waiting events.
    var webhookCapacity = 10_000
    /// The publisher's number in events.
    var broadcasterId: Int64 = 123_456_789
    /// Initial address for events; nil: none are sent.
    var webhooks: WebhookTarget?
    /// Length of a granted subscription.
    var periodMilliseconds: Int64 = 30 * 86_400_000
}

extension SimulatedCleeng {
    /// Creates a customer on first use, with the behaviour of the email's plus tags or the default.
    mutating func ensureCustomer(_ email: EmailAddress) {
        if let customer = customers[email] {
            if case .standard(let generation) = customer.source, generation != standardGeneration {
                adopt(standard, from: .standard(generation: standardGeneration), for: email)
            }
            return
        }
        let customer = Customer(email: email, id: makeCustomerId(), firstSeenAt: now)
        emailsById[customer.id] = email
        if let forgotten = customers.insert(customer, for: email) {
            emailsById[forgotten.value.id] = nil
        }
        let tagged = Behaviour(plusTags: email.plusTags)
        if tagged.names.isEmpty {
            adopt(standard, from: .standard(generation: standardGeneration), for: email)
        } else {
            adopt(tagged, from: .plusTags, for: email)
        }
    }

    /// Sets a customer's behaviour, with all its troubles unused, and grants the offers that it says are already held.
    mutating func adopt(_ behaviour: Behaviour, from source: Customer.BehaviourSource, for email: EmailAddress) {
        customers[email]?.behaviour = behaviour
        customers[email]?.source = source
        let held = (behaviour.holdsStandardOffers ? settings.heldOffers : []) + behaviour.heldOffers
        guard !held.isEmpty else { return }
        customers[email]?.isKnown = true
        for offer in held where customers[email]?.entitlements.contains(where: { $0.offerId == offer }) == false {
            let id = makeSubscriptionId()
            let entitlement = Entitlement(
                subscriptionId: id, originalTransactionId: "held-\(id)", offerId: offer, status: behaviour.status,
                grantedAt: now, expiresAt: expiry(expired: behaviour.expired, from: now), appType: "ios")
            customers[email]?.add(entitlement)
        }
    }

    /// An hour before a time if expired, else a period after it.
    func expiry(expired: Bool, from moment: SimulatedTime) -> SimulatedTime {
        moment.adding(milliseconds: expired ? -3_600_000 : settings.periodMilliseconds)
    }

    /// Tags of an offer: its own id unless set.
    func tags(of offer: OfferId) -> [String] {
        offerTags[offer] ?? [offer.text]
    }
}
