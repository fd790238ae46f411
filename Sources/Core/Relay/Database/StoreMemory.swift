package import Logging
public import RelayCore

/// State that the stores of one process share outside the database: name, clock, keys, and caches of the tables.
public final class StoreMemory: Sendable {
    public let vault: Vault
    /// Name of this process in leases and timelines.
    public let instance: String
    package let logger: Logger
    /// The database's time.
    public let clock = DatabaseClock()
    /// This process's waiters for validations.
    public let changes = ChangeHub()
    /// Cached validations, which apps poll and wait for.
    let validations = ValidationCache()
    /// Cached purchases of customers.
    let customerPurchases = PurchaseCache()
    /// Publishers with their own account.
    let accounts: AccountRoster
    /// Cached offers of publishers.
    public let catalogue = OfferCatalogue()

    /// Times of the last writes that are made at most once in ten seconds.
    let noted = Noted()
    /// What features add to each change of ledgers.
    let participants: [any LedgerParticipant]
    /// What must be known of features' tables.
    let tables: [TablePolicy]
    /// See ``StoredFeature/publishers``.
    let publishers: [StoredFeature.Publishers]
    /// The stores to which the relay acknowledges each grant.
    public let acknowledged: Set<StorePlatform>
    /// How long after a period's end a renewal may still be reported.
    package let leeway: Duration
    /// The stores that are asked at once about a grant of which they have stated nothing.
    let grantsAskedAt: Set<StorePlatform>
    /// Interval between two checks of a subscription with access, at a store that has no list of refunded purchases.
    let recheck: Duration

    /// Settings of an update that records grants.
    var grantTerms: LedgerChange.Terms {
        LedgerChange.Terms(leeway: leeway, recheck: recheck, grantsAskedAt: grantsAskedAt)
    }

    private let onDue: @Sendable (DueWork) -> Void

    init(
        vault: Vault, instance: String, logger: Logger, features: [StoredFeature],
        acknowledged: Set<StorePlatform>, leeway: Duration,
        grantsAskedAt: Set<StorePlatform>, recheck: Duration, accounts: AccountRoster,
        onDue: @escaping @Sendable (DueWork) -> Void
    ) {
        self.vault = vault
        self.instance = instance
        self.logger = logger
        participants = features.compactMap(\.participant)
        tables = features.map(\.tables)
        publishers = features.compactMap(\.publishers)
        self.acknowledged = acknowledged
        self.leeway = leeway
        self.grantsAskedAt = grantsAskedAt
        self.recheck = recheck
        self.accounts = accounts
        self.onDue = onDue
    }

    /// Wakes this process's loop for a kind of work, once the work is committed.
    public func signal(_ work: DueWork) { onDue(work) }
}
