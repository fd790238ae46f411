import RelayCore

/// Ledgers after a transaction's statements about them, before they are written.
struct AppliedLedgers: Sendable {
    let memory: StoreMemory
    var updated: UpdatedLedgers
    /// One of each of ``StoreMemory/participants``.
    var parts: [LedgerPart]
}
