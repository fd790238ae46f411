/// Cleeng's trap in `getAccessStatus`: four addresses for each customer, each held for three hours, then error 14.
struct DeviceLimiter: Sendable {
    static let addresses = 4
    static let holdMilliseconds: Int64 = 3 * 3_600_000

    private var heldUntil: [String: Moment] = [:]

    /// - Returns: false where the address would be the fifth.
    mutating func admits(_ address: String, at now: Moment) -> Bool {
        heldUntil = heldUntil.filter { $0.value > now }
        guard heldUntil[address] != nil || heldUntil.count < Self.addresses else { return false }
        heldUntil[address] = now.adding(milliseconds: Self.holdMilliseconds)
        return true
    }
}
