public import RelayCore

/// Asks Cleeng what a customer is entitled to, and keeps the answer.
public protocol CustomerInquirer: Sendable {
    /// - Parameters:
    ///   - offer: nil for every offer that is known of the customer or sold by the publisher.
    ///   - patience: how long the customer's turn to be read is waited for, where they were read a moment ago.
    /// - Throws: ``PostgresError``, ``StoreError``.
    func ask(
        about customer: CustomerEmail, offer: OfferID?, of publisher: PublisherID, patience: Duration
    ) async throws -> CustomerInquiryOutcome
}

/// Result of the question. In each case the relay answers with what it knows.
public enum CustomerInquiryOutcome: String, Sendable, CaseIterable {
    /// Cleeng has answered.
    case asked
    /// The customer was read a moment ago.
    case tooSoon = "too_soon"
    /// A purchase of theirs is pending, and Cleeng is being asked about it already.
    case pending
    /// Cleeng cannot be reached, or does not let us ask, or too many ask at once.
    case away
}
