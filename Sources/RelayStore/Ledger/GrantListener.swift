public import RelayCore

/// Updates ledgers after a settlement has granted.
public protocol GrantListener: Sendable {
    /// How long after a period's end a renewal may still be reported.
    var leeway: Duration { get }

    /// Whether the store or Cleeng must be asked about a new subscription at once.
    func asks(about subscription: LedgerResult) -> Bool

    /// Called after the commit with subscriptions whose ledgers must record a grant. Without this call they become due.
    func updateLedgers(granted names: [SubscriptionName])
}
