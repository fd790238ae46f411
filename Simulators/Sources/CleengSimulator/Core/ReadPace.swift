/// How fast entitlement reads of one customer follow each other.
struct ReadPace: Sendable {
    private(set) var count = 0
    private(set) var lastReadAt: Moment?
    /// The shortest time between two reads.
    private(set) var minGapMilliseconds: Int64?
    /// The same without the gaps in which the customer posted a payment: a client may read once before it forwards a
    /// purchase and once right after, and still poll every five seconds.
    private(set) var minPollGapMilliseconds: Int64?
    private var paymentSinceLastRead = false

    mutating func notePayment() {
        paymentSinceLastRead = true
    }

    /// - Returns: the gap to the read before, and whether a payment came between.
    mutating func noteRead(at now: Moment) -> (milliseconds: Int64, isPoll: Bool)? {
        defer {
            count += 1
            lastReadAt = max(lastReadAt ?? now, now)
            paymentSinceLastRead = false
        }
        guard let last = lastReadAt else { return nil }
        let gap = max(0, now.milliseconds(since: last))
        minGapMilliseconds = min(minGapMilliseconds ?? gap, gap)
        if !paymentSinceLastRead {
            minPollGapMilliseconds = min(minPollGapMilliseconds ?? gap, gap)
        }
        return (gap, !paymentSinceLastRead)
    }
}
