public import RelayCore

/// Why an act cannot be done. Of validations ``OpsRefusal`` says so.
public enum ActRefusal: Error, Sendable, Equatable {
    public enum Subject: String, Sendable, CaseIterable {
        case notification, message, event, subscription, endpoint, key, publisher, offer
    }

    /// It does not exist, or the operator's scope does not include it.
    case unknown(Subject)
    case noSuchPublisher(PublisherID, known: [PublisherID])
    case endpointNotActive
    /// By the configuration as it is now.
    case notGenuine(code: String, detail: String)
    /// Nothing is known of the customer, or no endpoint takes messages.
    case nobodyToTell
    /// The customer is none of one publisher's alone: of which, or of none.
    case publisherNotNamed([PublisherID])
}
