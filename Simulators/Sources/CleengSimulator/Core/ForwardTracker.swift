/// Keys of a call that forwards a purchase, to detect order and overlap.
struct Forward: Sendable, Equatable {
    /// The original transaction id.
    let subscriptionKey: String
    /// Email, offer and receipt together; for a connector, customer and transaction.
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

/// Detects whether two forwards of one purchase, or one subscription, were in progress at the same time.
struct ForwardTracker: Sendable {
    private struct Lane: Sendable {
        var inFlight: [Int] = []
        var lastEnded: (sequence: Int, at: SimulatedTime)?
    }

    private var lanes: BoundedTable<String, Lane>
    private(set) var inFlight = 0
    private(set) var mostInFlight = 0
    /// Highest number of concurrent calls for one subscription.
    private(set) var mostInOneSubscription = 0

    init(capacity: Int) {
        lanes = BoundedTable(capacity: capacity)
    }

    /// - Parameter startedAt: when the request's head arrived. A call overlaps the previous one if its head arrived
    ///   before that was answered, even if its body was read later.
    /// - Returns: the sequence numbers of the overlapped calls.
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
                // The call that has just ended and those in progress need not have overlapped each other.
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
