package import RelayCore

/// Ledgers after a transaction's statements about them, before they are written.
package struct AppliedLedgers: Sendable {
    let memory: StoreMemory
    package var batch: LedgerBatch
    /// One of each of ``StoreMemory/participants``.
    var parts: [LedgerPart]
}
