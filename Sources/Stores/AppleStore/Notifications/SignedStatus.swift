public import RelayCore

/// Status of a subscription from the App Store Server API: read, not verified.
public struct SignedStatus: Sendable, Hashable {
    public let transaction: SignedTransaction
    public let renewal: SignedRenewal?
    public let status: NotificationData.Status?

    /// - Throws: ``ReceiptReadError`` if a signed part is not a JWS.
    public init(
        transaction: String, renewal: String?, status: NotificationData.Status?
    ) throws(ReceiptReadError) {
        self.transaction = try SignedTransaction(CompactJWS(transaction))
        self.renewal = try renewal.map { (text) throws(ReceiptReadError) in try SignedRenewal(text) }
        self.status = status
    }

    /// Verifies that Apple signed both parts, for one of our apps, and that they belong together.
    public func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) {
        try await transaction.verify(trust, scope)
        guard let renewal else { return }
        let genuine = try await renewal.jws.verify(trust, signedDate: renewal.payload.signedDate)
        try scope.check(
            genuine, environment: renewal.payload.environment, bundleId: transaction.payload.bundleId, appId: nil)
        guard renewal.payload.originalTransactionId == transaction.payload.originalTransactionId,
            renewal.payload.environment == transaction.payload.environment
        else { throw NotGenuine(.mismatch, "the renewal information is of another subscription") }
    }

    /// Its statement for the ledger; nil if required fields are missing. Use only after ``verify(_:_:)``.
    public var statement: LedgerStatement? {
        let payload = transaction.payload
        guard let signed = payload.signedDate?.moment else { return nil }
        let statedAt = max(signed, renewal?.payload.signedDate?.moment ?? signed)
        var periods = payload.ledgerPeriods(statedAt: statedAt)
        guard !periods.isEmpty || payload.addsSeats else { return nil }
        // The subscription still has access, so the revocation concerned only seats, unless it has items.
        if status?.isOver == false, payload.items.isEmpty {
            for index in periods.indices { periods[index].keepThroughSeatRefund() }
        }
        return LedgerStatement(
            periods: periods, renewal: renewal?.payload.ledgerRenewal,
            end: status?.isOver.map {
                LedgerEnd(isOver: $0, until: $0 ? periods.first?.expiresAt : nil, statedAt: statedAt)
            })
    }
}

extension NotificationData.Status {
    /// Whether the subscription is over; nil if the status does not decide that.
    var isOver: Bool? {
        switch self {
        case .active, .grace: false
        case .expired: true
        case .billingRetry, .revoked: nil
        }
    }

    public var name: String {
        switch self {
        case .active: "active"
        case .expired: "expired"
        case .billingRetry: "in billing retry"
        case .grace: "in grace"
        case .revoked: "revoked"
        }
    }
}
