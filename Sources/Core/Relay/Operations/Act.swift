public import RelayCore

/// An action of an operator, with everything that it needs.
public struct Act<Outcome: Sendable>: Sendable {
    typealias Step = @Sendable (RelayStore, _ actor: Actor, _ reason: String?) async throws -> (Outcome, Record?)

    let action: AuditEntry.Action
    /// Limit for the whole act; nil: the limit of any transaction.
    let timeout: Duration?
    /// Kind of work that this process's workers continue after the act; nil if there is none.
    let wakes: DueWork?
    let step: Step

    /// - Parameter step: receives a store that writes in the same transaction as the audit row. Returns the outcome and
    ///   the row; the row is nil if the act changed nothing.
    init(_ action: AuditEntry.Action, timeout: Duration? = nil, wakes: DueWork? = nil, _ step: @escaping Step) {
        self.action = action
        self.timeout = timeout
        self.wakes = wakes
        self.step = step
    }
}

/// The audit log's data about an act, besides the operator and the reason.
struct Record: Sendable {
    var target: String
    /// Publisher whose ops keys see the row; nil: only keys for all publishers see it.
    var publisher: PublisherID?
    /// Used if the operator gave no reason.
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

/// An act that calls external services, or takes longer than a transaction may.
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

    /// Writes the audit row, does the work, and adds the outcome to the row.
    ///
    /// - Parameter body: returns the outcome, and a short text about it for the row.
    func recorded<T: Sendable>(
        _ target: String, of publisher: PublisherID?, _ body: () async throws -> (T, String)
    ) async throws -> T {
        var entry = Record(target, of: publisher).entry(action, by: actor, reason: reason)
        let row = try await store.audit.begin(entry)
        do {
            let (outcome, words) = try await body()
            entry.reason = reason.map { "\($0) (\(words))" } ?? words
            // The work is done and recorded. If the outcome cannot be added to the row, the act still succeeds.
            try? await store.audit.amend(row, entry)
            return outcome
        } catch {
            let partly = error as? PartlyDone
            let words = partly.map { "failed after \($0.part)" } ?? "failed"
            entry.reason = reason.map { "\($0) (\(words))" } ?? words
            try? await store.audit.amend(row, entry)
            throw partly?.cause ?? error
        }
    }
}

/// The error of a long act that has done a part of its work. The audit row names the part.
struct PartlyDone: Error {
    var part: String
    var cause: any Error
}

/// Why an act cannot be done. For validations see ``OpsRefusal``.
public enum ActRefusal: Error, Sendable, Equatable {
    public enum Subject: String, Sendable, CaseIterable {
        case notification, message, event, subscription, endpoint, key, publisher, offer
    }

    /// It does not exist, or the operator's scope does not include it.
    case unknown(Subject)
    case noSuchPublisher(PublisherID, known: [PublisherID])
    case endpointNotActive
    /// The publisher has an endpoint with this URL. It may be disabled.
    case endpointExists(EndpointID)
    /// The notification is not genuine under the present configuration.
    case notGenuine(code: String, detail: String)
    /// The relay knows nothing about the customer, or no endpoint is active.
    case nobodyToTell
    /// The App Store cannot be asked, or refuses the question. The text says why.
    case cannotAsk(String)
    /// The App Store does not answer now. The text says why.
    case storeAway(String)
    /// The notification is not about a subscription to a topic.
    case nothingToConfirm
    /// The operator must name a publisher: the customer belongs to several, which are listed, or to none.
    case publisherNotNamed([PublisherID])
}
