import HTTPServer
import Logging
public import RelayCore

/// A publisher's policy on transfers.
public struct TransferRules: Sendable {
    public var policy: TransferPolicy
    /// Namespace of customers' UUIDs at stores; nil: the publisher's default.
    public var namespace: AccountToken?

    public init(_ policy: TransferPolicy = .move, namespace: AccountToken? = nil) {
        self.policy = policy
        self.namespace = namespace
    }

    /// Whether the token is the customer's. It is compared with the username if that is a UUID, else with the UUID
    /// derived from the username.
    func names(_ username: Username, of publisher: PublisherID, by token: String?) -> Bool {
        guard let token = token.flatMap(AccountToken.init) else { return false }
        let made = (namespace ?? .namespace(of: publisher)).map { AccountToken(username.text, in: $0) }
        return token == AccountToken(username.text) ?? made
    }
}

/// Keeps purchases away from subscriptions that another customer owns.
package struct TransferGate: Sendable {
    let store: RelayStore
    let rules: PerPublisher<TransferRules>
    let logger: Logger

    /// Checks a purchase. Needs no query if subscriptions move freely.
    ///
    /// - Parameters:
    ///   - names: all subscriptions that Cleeng could give to the sender, of one publisher.
    ///   - customer: sender of the purchase; nil if the username is not an email.
    ///   - token: the purchase's account token, as its store signed or returned it; nil if there is none.
    /// - Returns: whether the purchase must leave the subscription to its owner at the time of sending.
    /// - Throws: ``Problem``: `owned_by_another`.
    package func check(
        _ names: [SubscriptionName], for username: Username, customer: CustomerID?, token: String?
    ) async throws -> Bool {
        guard let publisher = names.first?.publisher else { return false }
        // If this copy lacks the publisher's settings, the strictest policy applies.
        let rules = rules[publisher] ?? TransferRules(.refuse)
        switch rules.policy {
        case .move: return false
        case .requireToken where rules.names(username, of: publisher, by: token): return false
        case .refuse, .requireToken: break
        }
        let owners = try await store.subscriptions.runningOwners(of: names)
        let other = owners.first { owner in customer.map { $0 != owner.customer } ?? (username != owner.username) }
        guard let name = other?.name else { return true }
        try await store.subscriptions.noteRefusedTransfer(of: name)
        logger.notice(
            "a purchase of a subscription that another customer has is refused",
            metadata: [
                "publisher": "\(publisher)", "original_transaction_id": "\(name.originalTransactionID.loggable)",
            ])
        throw Problem(
            .ownedByAnother,
            "the subscription is another customer's; sign in as the customer who bought it, or let support move it")
    }
}
