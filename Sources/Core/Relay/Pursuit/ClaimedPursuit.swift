import Postgres
public import RelayCore

/// A pursuit whose lease this process holds.
public struct ClaimedPursuit: Sendable {
    public let id: ValidationID
    /// Number of the claim. Every write names it, and a newer claim invalidates it.
    public let fence: Int32
    public let publisher: PublisherID
    public let subscriptionKey: TransactionID
    public let customer: CustomerID
    public let email: EmailAddress
    public let offerID: OfferID
    /// The claim includes the right to send for this subscription.
    public let isSending: Bool
    /// Older requests for the same subscription still wait to be sent.
    public let overtakes: Bool
    /// A newer request for the same subscription has already been sent.
    public let isOvertaken: Bool
    /// Number of consecutive earlier claims that were not released.
    public let strikes: Int
    /// Trace of the request that posted the purchase; see ``StoredTrace``.
    public let trace: String?
    /// Environment at the store; `unknown` if Apple did not sign the receipt. With ``subscriptionKey`` it names the
    /// subscription.
    public let environment: StoreEnvironment
    /// The grant must not take the subscription from another customer.
    public let keepsOwner: Bool
    /// Other subscriptions that Cleeng could give to the sender. Empty unless ``keepsOwner``.
    public var takes: [SubscriptionName] = []
    public var pursuit: Pursuit
    /// The accepted purchase, if this process has just accepted it.
    var accepted: Acceptance?

    /// The purchased subscription.
    public var name: SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: subscriptionKey)
    }

    /// Whether it must not take a subscription from its owner, but its store has not said yet what it continues: the
    /// store could not be asked when it was posted, or denied it.
    public var awaitsStore: Bool {
        keepsOwner && environment == .unknown && StorePlatform.asked.contains(name.platform)
    }

    /// Whether it may end processes. A process works on one such pursuit at a time, beside others.
    public var isSuspect: Bool { StrikeLimits.purchases.isSuspect(strikes) }
}

extension ClaimedPursuit {
    /// Columns of a claimed pursuit `p` and its validation `v`, which may be missing.
    static func columns(overtakes: SQL, isOvertaken: SQL) -> SQL {
        """
        p.bucket, p.accepted_on - DATE 'epoch' AS day, p.id, p.fence, p.publisher, p.subscription_key,
               ROW(p.sealed_by, p.customer) AS customer, p.sending, p.phase, p.status, p.accepted_at, p.deadline, p.forwards,
               p.retry_at, p.forwarded_at, p.read_at, p.entitled_before, ROW(v.sealed_by, v.email) AS email, v.offer_id,
               \(overtakes) AS overtakes, \(isOvertaken) AS is_overtaken, clock_timestamp() AS now, p.strikes, p.trouble,
               p.synchronization, p.transfers, p.found_synchronization, p.refusal, v.verification,
               CASE WHEN p.phase IN \(Pursuit.Phase.registering + Pursuit.Phase.synchronizing) THEN v.period END AS period, v.trace,
               p.environment, coalesce(v.keeps_owner, false) AS keeps_owner,
               CASE WHEN v.keeps_owner THEN v.takes END AS takes
        """
    }

    /// Reads ``columns(overtakes:isOvertaken:)``.
    ///
    /// - Throws: ``StoreError`` or ``PostgresError`` if this version cannot process the row, or if too many claims
    ///   ended without a release.
    init(_ row: PostgresRow) throws {
        let strikes = try row.get("strikes", as: Int.self)
        guard !StrikeLimits.purchases.isDeadly(strikes) else {
            throw StoreError.claimedInVain(times: strikes, trouble: try row.get("trouble"))
        }
        // The validation's only two columns that are never NULL: if they are, the validation is missing.
        guard let email = try row.open("email", as: EmailAddress?.self),
            let offerID = try row.get("offer_id", as: OfferID?.self)
        else { throw StoreError.missingRow("its validation") }
        let keepsOwner: Bool = try row.get("keeps_owner")
        let verification = try row.get("verification", as: Int16.self)
        self.init(
            id: try row.validationID(), fence: try row.get("fence"), publisher: try row.get("publisher"),
            subscriptionKey: try row.get("subscription_key"), customer: try row.open("customer"), email: email,
            offerID: offerID, isSending: try row.get("sending"), overtakes: try row.get("overtakes"),
            isOvertaken: try row.get("is_overtaken"), strikes: strikes, trace: try row.get("trace"),
            environment: try row.get("environment"), keepsOwner: keepsOwner,
            takes: try TakenNames.names(row.get("takes"), of: row.get("publisher")),
            pursuit: Pursuit(
                phase: try row.constant("phase"), status: try row.constant("status"),
                acceptedAt: try row.finiteTimestamp("accepted_at"), deadline: try row.finiteTimestamp("deadline"),
                forwards: try row.get("forwards"), retryAt: try row.timestampIfSet("retry_at"),
                watchedSince: try row.timestampIfSet("forwarded_at"), readAt: try row.timestampIfSet("read_at"),
                entitledBefore: try row.get("entitled_before"), synchronization: try row.get("synchronization"),
                transfers: try row.get("transfers"), foundSynchronization: try row.get("found_synchronization"),
                refusal: try row.get("refusal"),
                mayTransfer: !keepsOwner && verification != Verification.Result.notGenuine.rawValue,
                paidUntil: try [LedgerPeriod](stored: row.get("period")).first?.expiresAt,
                isConfirmed: verification == Verification.Result.genuine.rawValue))
    }
}

extension ClaimedPursuit: LeasedItem {
    var lease: Lease<ValidationID> { Lease(id: id, fence: fence) }
}
