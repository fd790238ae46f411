public import RelayCore
import RelayStore

/// Something that an operator does, with all that it takes.
public struct Act<Outcome: Sendable>: Sendable {
    typealias Step = @Sendable (RelayStore, _ actor: Actor, _ reason: String?) async throws -> (Outcome, Record?)

    let action: AuditEntry.Action
    /// For all of it; nil: that of any transaction.
    let timeout: Duration?
    /// Services of this process that get work.
    let wakes: Wakes?
    let step: Step

    /// - Parameter step: gets a store that writes in the same transaction as the audit row. Returns the outcome and the row, or nil for the
    ///   row if it changed nothing.
    init(_ action: AuditEntry.Action, timeout: Duration? = nil, wakes: Wakes? = nil, _ step: @escaping Step) {
        self.action = action
        self.timeout = timeout
        self.wakes = wakes
        self.step = step
    }
}

enum Wakes: Sendable {
    case notifications, messages
}

/// What the audit log says of an act, besides who did it and why.
struct Record: Sendable {
    var target: String
    /// Publisher whose ops keys see the row; nil: only keys of all publishers do.
    var publisher: PublisherID?
    /// Stands where the operator gave no reason.
    var remark: String?

    init(_ target: String, of publisher: PublisherID?, remark: String? = nil) {
        self.target = target
        self.publisher = publisher
        self.remark = remark
    }

    func entry(_ action: AuditEntry.Action, by actor: Actor, reason: String?) -> AuditEntry {
        AuditEntry(actor: actor.name, action, target, of: publisher, reason: reason ?? remark)
    }
}

/// An act that calls others, or takes longer than a transaction may.
public struct LongAct<Outcome: Sendable>: Sendable {
    let action: AuditEntry.Action
    let step: @Sendable (LongWork) async throws -> Outcome

    init(_ action: AuditEntry.Action, _ step: @escaping @Sendable (LongWork) async throws -> Outcome) {
        self.action = action
        self.step = step
    }
}

struct LongWork: Sendable {
    let store: RelayStore
    let action: AuditEntry.Action
    let actor: Actor
    let reason: String?

    /// Writes the row, does the work, and adds the outcome to the row.
    ///
    /// - Parameter body: returns the outcome, and that in a few words.
    func recorded<T: Sendable>(
        _ target: String, of publisher: PublisherID?, _ body: () async throws -> (T, String)
    ) async throws -> T {
        var entry = Record(target, of: publisher).entry(action, by: actor, reason: reason)
        let row = try await store.audit.begin(entry)
        do {
            let (outcome, words) = try await body()
            entry.reason = reason.map { "\($0) (\(words))" } ?? words
            // The work is done and has its row. A row without the outcome is no reason to report a failure.
            try? await store.audit.amend(row, entry)
            return outcome
        } catch {
            entry.reason = reason.map { "\($0) (failed)" } ?? "failed"
            try? await store.audit.amend(row, entry)
            throw error
        }
    }
}

/// Why an act cannot be done. Of validations ``OpsRefusal`` says so.
public enum ActRefusal: Error, Sendable, Equatable {
    public enum Subject: String, Sendable, CaseIterable {
        case notification, message, event, subscription, endpoint, key, publisher, offer
    }

    /// It does not exist, or the operator's scope does not include it.
    case unknown(Subject)
    case noSuchPublisher(PublisherID, known: [PublisherID])
    case endpointNotActive
    /// The publisher has an endpoint with this URL that is not disabled.
    case endpointExists(EndpointID)
    /// The configuration has changed, and the notification is not genuine by it.
    case notGenuine(code: String, detail: String)
    /// Nothing is known of the customer, or no endpoint takes messages.
    case nobodyToTell
    /// Nothing that the App Store could be asked, or that it answers: why.
    case cannotAsk(String)
    /// The App Store does not answer now: why.
    case storeAway(String)
    /// The notification is no word of a subscription to a topic.
    case nothingToConfirm
    /// The customer is none of one publisher's alone: of which, or of none.
    case publisherNotNamed([PublisherID])
}
