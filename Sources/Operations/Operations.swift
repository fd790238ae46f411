public import RelayStore

/// What operators do, by whichever door: each act leaves one row in the audit log, and none is done without it.
public struct Operations: Sendable {
    public let store: RelayStore
    private let onNotification: @Sendable () -> Void
    private let onMessage: @Sendable () -> Void

    /// - Parameters:
    ///   - onNotification: a notification is to be passed on to Cleeng.
    ///   - onMessage: a message is to be delivered to an endpoint.
    public init(
        store: RelayStore, onNotification: @escaping @Sendable () -> Void = {},
        onMessage: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.onNotification = onNotification
        self.onMessage = onMessage
    }

    /// Performs an act and writes its row in one transaction. One that changed nothing leaves no row.
    ///
    /// - Throws: ``ActRefusal``, ``OpsRefusal``, ``PostgresError``; then nothing has happened.
    @discardableResult
    public func perform<Outcome>(
        _ act: Act<Outcome>, by actor: Actor, reason: String? = nil
    ) async throws -> Outcome {
        let outcome = try await store.transaction(timeout: act.timeout) { store in
            let (outcome, record) = try await act.step(store, actor, reason)
            if let record { try await store.audit.add(record.entry(act.action, by: actor, reason: reason)) }
            return outcome
        }
        switch act.wakes {
        case .notifications: onNotification()
        case .messages: onMessage()
        case nil: break
        }
        return outcome
    }

    /// Performs an act of more than one transaction. Its row is written before it begins, and gets the outcome at the end.
    @discardableResult
    public func perform<Outcome>(
        _ act: LongAct<Outcome>, by actor: Actor, reason: String? = nil
    ) async throws -> Outcome {
        try await act.step(LongWork(store: store, action: act.action, actor: actor, reason: reason))
    }
}

/// An operator, and what they may act on.
public struct Actor: Sendable {
    /// As timelines and the audit log name them.
    public var name: String
    /// The rows that the operator sees and changes.
    public var scope: OpsScope

    public init(name: String, scope: OpsScope) {
        self.name = name
        self.scope = scope
    }

    public init(_ key: APIKey) { self.init(name: key.actor, scope: key.opsScope) }
}
