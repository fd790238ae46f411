/// The acts of operators, for the console, the ops API and the commands. An act and its row in the audit log are always
/// written together.
public struct Operations: Sendable {
    public let store: RelayStore

    public init(store: RelayStore) { self.store = store }

    /// Performs an act and writes its audit row in one transaction. An act that changed nothing leaves no row.
    ///
    /// - Throws: ``ActRefusal``, ``OpsRefusal`` or ``PostgresError``; in each case nothing was changed.
    @discardableResult
    public func perform<Outcome>(
        _ act: Act<Outcome>, by actor: Actor, reason: String? = nil
    ) async throws -> Outcome {
        let outcome = try await store.transaction(timeout: act.timeout) { store in
            let (outcome, record) = try await act.step(store, actor, reason)
            if let record { try await store.audit.add(record.entry(act.action, by: actor, reason: reason)) }
            return outcome
        }
        if let work = act.wakes { store.memory.signal(work) }
        return outcome
    }

    /// Performs an act of several transactions. Its audit row is written before the act begins, and receives the
    /// outcome at the end.
    @discardableResult
    public func perform<Outcome>(
        _ act: LongAct<Outcome>, by actor: Actor, reason: String? = nil
    ) async throws -> Outcome {
        try await act.step(LongWork(store: store, action: act.action, actor: actor, reason: reason))
    }
}

/// An operator, and the rows that the operator may act on.
public struct Actor: Sendable {
    /// Name in timelines and in the audit log.
    public var name: String
    /// Rows that the operator may see and change.
    public var scope: OpsScope

    public init(name: String, scope: OpsScope) {
        self.name = name
        self.scope = scope
    }

    public init(_ key: APIKey) { self.init(name: key.actor, scope: key.opsScope) }
}
