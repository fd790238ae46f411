/// What befalls a customer's purchases of StoreKit 2.
struct StoreKit2Manner: Sendable, Equatable {
    /// What Cleeng hears of the transaction from Apple.
    enum Finding: Sendable, Equatable { case unknown, expired }

    /// nil: what the simulator knows of it.
    var finding: Finding?
    /// Says `retrying` rather than `processing` until it is finalized.
    var retries = false
    /// As if the publisher had not set StoreKit 2 up.
    var isInactive = false
    /// Purchases cannot be moved for now.
    var isMigrating = false

    /// Whether it does no more than refuse calls: only that can befall everybody.
    var refusesOnly: Bool { finding == nil && !retries }

    /// Adds what a name such as `unknown` or `inactive` means.
    /// - Returns: false, with nothing changed, where it means nothing.
    mutating func adopt(_ words: ArraySlice<Substring>) -> Bool {
        guard words.count == 1 else { return false }
        switch words.first {
        case "unknown": finding = .unknown
        case "expired": finding = .expired
        case "retrying": retries = true
        case "inactive": isInactive = true
        case "migrating": isMigrating = true
        default: return false
        }
        return true
    }
}
