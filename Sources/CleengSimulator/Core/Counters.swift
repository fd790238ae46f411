/// Sums since the start or the last reset.
struct Counters: Sendable {
    var payments = 0
    var paymentsByOutcome: [String: Int] = [:]
    var reads = 0
    var notifications = 0
    var grants = 0
    var transfers = 0
    var upgrades = 0
    var overlappingForwards = 0
    var closestReads: (milliseconds: Int64, email: CustomerEmail)?
    var closestPolls: (milliseconds: Int64, email: CustomerEmail)?

    mutating func noteGap(_ gap: (milliseconds: Int64, isPoll: Bool), of email: CustomerEmail) {
        if gap.milliseconds < closestReads?.milliseconds ?? .max { closestReads = (gap.milliseconds, email) }
        if gap.isPoll, gap.milliseconds < closestPolls?.milliseconds ?? .max {
            closestPolls = (gap.milliseconds, email)
        }
    }
}
