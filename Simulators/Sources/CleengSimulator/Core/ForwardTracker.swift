/// What a call that passes on a purchase is about, as far as order and overlap are concerned.
struct Forward: Sendable, Equatable {
    /// The original transaction id.
    let subscriptionKey: String
    /// Email, offer and receipt together; by a connector, customer and transaction.
    let purchaseKey: String

    var keys: [String] { [subscriptionKey, purchaseKey] }

    init(_ payment: Payment) {
        subscriptionKey = "s:" + payment.subscription
        purchaseKey = "p:\(payment.email.text)|\(payment.offerId.text)|\(payment.receipt.sha256)"
    }

    init(_ request: SynchronizationRequest, originalTransactionId: String) {
        subscriptionKey = "s:" + originalTransactionId
        purchaseKey = "t:\(request.customerId)|\(request.transactionId)"
    }
}

/// Sees whether two calls that pass on one purchase, or one subscription, were under way at the same time.
struct ForwardTracker: Sendable {
    private struct Lane: Sendable {
        var inFlight: [Int] = []
        var lastEnded: (sequence: Int, at: SimulatedTime)?
    }

    private var lanes: BoundedTable<String, Lane>
    private(set) var inFlight = 0
    private(set) var mostInFlight = 0
    /// The most calls of one subscription that were under way at once.
    private(set) var mostInOneSubscription = 0

    init(capacity: Int) {
        lanes = BoundedTable(capacity: capacity)
    }

    /// - Parameter startedAt: when the head of the request arrived. A call whose head arrived before the call before
    ///   was answered overlapped it, even if its body was read only afterwards.
    /// - Returns: the sequence numbers of the calls that it overlapped.
    mutating func begin(_ sequence: Int, of forward: Forward, startedAt: SimulatedTime) -> Set<Int> {
        inFlight += 1
        mostInFlight = max(mostInFlight, inFlight)
        var overlapping: Set<Int> = []
        for key in forward.keys {
            if lanes[key] == nil { _ = lanes.insert(Lane(), for: key) }
            guard let lane = lanes[key] else { continue }
            var others = Set(lane.inFlight)
            if let last = lane.lastEnded, startedAt < last.at { others.insert(last.sequence) }
            if key == forward.subscriptionKey {
                // The one that has just ended and those still under way need not have met each other.
                let atOnce = max(lane.inFlight.count + 1, others.isEmpty ? 1 : 2)
                mostInOneSubscription = max(mostInOneSubscription, atOnce)
            }
            overlapping.formUnion(others)
            lanes[key]?.inFlight.append(sequence)
        }
        return overlapping
    }

    mutating func end(_ sequence: Int, of forward: Forward, at now: SimulatedTime) {
        inFlight = max(0, inFlight - 1)
        for key in forward.keys {
            lanes[key]?.inFlight.removeAll { $0 == sequence }
            lanes[key]?.lastEnded = (sequence, now)
        }
    }
}
