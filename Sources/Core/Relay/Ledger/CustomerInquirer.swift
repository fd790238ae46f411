public import RelayCore

/// Asks Cleeng for a customer's entitlements and stores the answer.
public protocol CustomerInquirer: Sendable {
    /// - Parameters:
    ///   - offer: nil for every offer that the customer is known to have or the publisher sells.
    ///   - patience: longest wait for the customer's turn, if their entitlement was read a moment ago.
    /// - Throws: ``PostgresError``, ``StoreError``.
    func ask(
        about customer: CustomerEmail, offer: OfferID?, of publisher: PublisherID, patience: Duration
    ) async throws -> CustomerInquiryOutcome
}

/// Result of the question. The relay then answers with its stored state in every case.
public enum CustomerInquiryOutcome: String, Sendable, CaseIterable {
    /// Cleeng has answered.
    case asked
    /// The customer was read a moment ago.
    case tooSoon = "too_soon"
    /// A purchase of the customer is pending, so Cleeng is being asked already.
    case pending
    /// Cleeng cannot be reached, refuses the relay's key, or too many questions are under way.
    case away
}
