package import Formats
package import HTTPServer
package import RelayCore

/// Accepts a purchase: from its request into the database. All stores and validators use it.
///
/// The routes check the key, its rate limit, the customer token, the Idempotency-Key, the body and the token's
/// customer, in this order. Then follow the receipt, policy, number, driver, clock and transfers. The commit comes last and
/// detects repeats.
package struct PurchaseAcceptor: Sendable {
    package let store: RelayStore
    let intake: Intake
    package let receipts: ReceiptPolicy
    package let drivers: DriverPolicy
    let numbers: NumberGate
    /// Stores that are asked about purchases that they do not sign.
    package let stores: StoreGate
    package let transfers: TransferGate
    package let metrics: IntakeMetrics

    package var offers: OfferCatalogue { store.memory.catalogue }

    /// Sender of a purchase: its app's key and its connection.
    package struct Sender: Sendable {
        var key: APIKey
        /// Address of the peer, used if the request contains none.
        var peer: IPAddress?
        var idempotencyKey: Acceptance.IdempotencyKey?

        package init(key: APIKey, peer: IPAddress? = nil, idempotencyKey: Acceptance.IdempotencyKey? = nil) {
            self.key = key
            self.peer = peer
            self.idempotencyKey = idempotencyKey
        }
    }

    struct Accepted: Sendable {
        var outcome: IntakeOutcome
        var validation: Validation
        var warnings: [FieldError]
    }

    func accept(_ request: PurchaseRequest, from sender: Sender, _ notes: RequestNotes) async throws -> Accepted {
        let receipt = try await judge(request, of: sender.key)
        var request = request
        if let number = request.cleengCustomer {
            try await numbers.check(number, &request, receipt, of: sender.key.publisher)
        }
        var (acceptance, warnings) = try acceptance(of: request, receipt, from: sender)
        acceptance.takes = receipt.taken(of: sender.key.publisher)
        acceptance.keepsOwner = try await transfers.check(
            [acceptance.subscription] + acceptance.takes, for: request.applicationUsername,
            customer: request.email.customer, token: receipt.accountToken)
        let (outcome, validation) = try await record(acceptance, notes)
        return Accepted(outcome: outcome, validation: validation, warnings: warnings)
    }

    /// Commits a purchase, or finds the validation that it repeats.
    ///
    /// - Throws: ``Problem``: `idempotency_key_reused`.
    package func record(
        _ acceptance: Acceptance, _ notes: RequestNotes
    ) async throws -> (outcome: IntakeOutcome, validation: Validation) {
        for _ in 0..<3 {
            if let recorded = try await commit(acceptance, notes) { return recorded }
        }
        throw Problem(.databaseUnavailable, "send the same request again")
    }

    /// Makes the row of a purchase, except ``Acceptance/keepsOwner``.
    ///
    /// - Returns: the row, and the warnings for the app.
    /// - Throws: ``Problem``: 422 if a field that the driver needs is missing, 503 if the time is not known yet.
    package func acceptance(
        of request: PurchaseRequest, _ receipt: ReadReceipt, from sender: Sender
    ) throws -> (Acceptance, [FieldError]) {
        let (driver, notes) = try drivers.choose(for: request, receipt)
        let warnings = request.warnings + notes + offers.warnings(request, receipt, of: sender.key.publisher)
        let now = try store.memory.clock.required()
        return (Acceptance(request, receipt, driver: driver, from: sender, now: now), warnings)
    }

    /// - Returns: nil if the purchase repeats a validation that is no longer stored. Its key is deleted, so that the
    ///   next try is accepted as new.
    private func commit(
        _ acceptance: Acceptance, _ notes: RequestNotes
    ) async throws -> (IntakeOutcome, Validation)? {
        notes.subject = .validation(acceptance.id)
        switch try await intake.accept(acceptance) {
        case .created(let acceptedAt, let deadline):
            return (.created, Validation(acceptance, acceptedAt: acceptedAt, deadline: deadline))
        case .existing(let id):
            notes.subject = .validation(id)
            if let validation = try await store.purchases.validation(id) { return (.existing, validation) }
            try await store.purchases.forget(id, of: acceptance)
            return nil
        case .idempotencyKeyReused:
            throw Problem(.idempotencyKeyReused, "use a new key for a new request")
        }
    }
}
