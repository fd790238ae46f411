/// Sums since the start or the last reset.
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
    var closestReads: (milliseconds: Int64, email: CustomerEmail)?
    var closestPolls: (milliseconds: Int64, email: CustomerEmail)?

    mutating func noteOutcome(_ outcome: String, of kind: CleengCall.Kind) {
        switch kind {
        case .payment: paymentsByOutcome[outcome, default: 0] += 1
        case .registration: registrationsByOutcome[outcome, default: 0] += 1
        case .transferRequest: transferRequestsByOutcome[outcome, default: 0] += 1
        case .read, .synchronizationRead, .notification, .other: break
        }
    }

    mutating func noteGap(_ gap: (milliseconds: Int64, isPoll: Bool), of email: CustomerEmail) {
        if gap.milliseconds < closestReads?.milliseconds ?? .max { closestReads = (gap.milliseconds, email) }
        if gap.isPoll, gap.milliseconds < closestPolls?.milliseconds ?? .max {
            closestPolls = (gap.milliseconds, email)
        }
    }
}
