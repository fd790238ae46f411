/// Sums since the start or the last reset.
struct StatsView: Encodable {
    struct Closest: Encodable {
        let customerEmail: String
        let milliseconds: Int64
    }

    let payments: Int
    let paymentsByOutcome: [String: Int]
    let registrations: Int
    let registrationsByOutcome: [String: Int]
    let transferRequests: Int
    let transferRequestsByOutcome: [String: Int]
    let synchronizationReads: Int
    let synchronizationsRunning: Int
    let reads: Int
    let notifications: Int
    let grants: Int
    let transfers: Int
    let upgrades: Int
    let pendingGrants: Int
    let customers: Int
    let subscriptions: Int
    let requestsRemembered: Int
    let webhooksSent: Int
    let webhooksFailed: Int
    let webhooksWaiting: Int
    let forwardsInFlight: Int
    let maxConcurrentForwards: Int
    let maxConcurrentForwardsPerSubscription: Int
    let overlappingForwards: Int
    let minReadGapMilliseconds: Int64?
    let minPollGapMilliseconds: Int64?
    let closestReads: Closest?
    let closestPolls: Closest?

    init(_ cleeng: SimulatedCleeng) {
        let counters = cleeng.counters
        payments = counters.payments
        paymentsByOutcome = counters.paymentsByOutcome
        registrations = counters.registrations
        registrationsByOutcome = counters.registrationsByOutcome
        transferRequests = counters.transferRequests
        transferRequestsByOutcome = counters.transferRequestsByOutcome
        synchronizationReads = counters.synchronizationReads
        synchronizationsRunning = cleeng.synchronizations.runningCount
        reads = counters.reads
        notifications = counters.notifications
        grants = counters.grants
        transfers = counters.transfers
        upgrades = counters.upgrades
        pendingGrants = cleeng.agenda.count
        customers = cleeng.customers.count
        subscriptions = cleeng.subscriptions.count
        requestsRemembered = cleeng.requests.count
        webhooksSent = cleeng.outbox.sent
        webhooksFailed = cleeng.outbox.failed
        webhooksWaiting = cleeng.outbox.count
        forwardsInFlight = cleeng.forwards.inFlight
        maxConcurrentForwards = cleeng.forwards.mostInFlight
        maxConcurrentForwardsPerSubscription = cleeng.forwards.mostInOneSubscription
        overlappingForwards = counters.overlappingForwards
        minReadGapMilliseconds = counters.closestReads?.milliseconds
        minPollGapMilliseconds = counters.closestPolls?.milliseconds
        closestReads = counters.closestReads.map { .init(customerEmail: $0.email.text, milliseconds: $0.milliseconds) }
        closestPolls = counters.closestPolls.map { .init(customerEmail: $0.email.text, milliseconds: $0.milliseconds) }
    }
}
