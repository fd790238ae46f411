import RelayStore

/// The features of this build. The core does not know them.
enum Features {
    /// What they add to each change of ledgers.
    static let participants: [any LedgerParticipant] = [ContractParticipant()]
}
