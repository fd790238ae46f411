import SimulatorKit

/// Counts since the start or the last reset.
struct Counters: Sendable {
    var payments = 0
    var paymentsByOutcome: [String: Int] = [:]
    var registrations = 0
    var registrationsByOutcome: [String: Int] = [:]
    var transferRequests = 0
    var transferRequestsByOutcome: [String: Int] = [:]
    var synchronizationReads = 0
    var reads = 0
    var notifications = 0
    var grants = 0
    var transfers = 0
    var upgrades = 0
    var overlappingForwards = 0
    var closestReads: (milliseconds: Int64, email: EmailAddress)?
    var closestPolls: (milliseconds: Int64, email: EmailAddress)?

    mutating func noteOutcome(_ outcome: String, of kind: CleengCall.Kind) {
        switch kind {
        case .payment: paymentsByOutcome[outcome, default: 0] += 1
        case .registration: registrationsByOutcome[outcome, default: 0] += 1
        case .transferRequest: transferRequestsByOutcome[outcome, default: 0] += 1
        case .read, .synchronizationRead, .notification, .other: break
        }
    }

    mutating func noteGap(_ gap: (milliseconds: Int64, isPoll: Bool), of email: EmailAddress) {
        if gap.milliseconds < closestReads?.milliseconds ?? .max { closestReads = (gap.milliseconds, email) }
        if gap.isPoll, gap.milliseconds < closestPolls?.milliseconds ?? .max {
            closestPolls = (gap.milliseconds, email)
        }
    }
}

extension SimulatedCleeng {
    /// Counts a call, whatever its outcome.
    mutating func count(_ call: CleengCall, _ email: EmailAddress?) {
        switch call.kind {
        case .payment:
            counters.payments += 1
            guard let email else { return }
            customers[email]?.paymentsReceived += 1
            customers[email]?.reads.notePayment()
        case .registration:
            counters.registrations += 1
            if let email { customers[email]?.reads.notePayment() }
        case .transferRequest:
            counters.transferRequests += 1
            if let email { customers[email]?.reads.notePayment() }
        case .read:
            counters.reads += 1
            guard let email, let gap = customers[email]?.reads.noteRead(at: call.startedAt) else { return }
            counters.noteGap(gap, of: email)
        case .synchronizationRead: counters.synchronizationReads += 1
        case .notification: counters.notifications += 1
        case .other: break
        }
    }
}

/// Counts since the start or the last reset.
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
