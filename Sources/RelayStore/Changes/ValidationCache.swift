import NIOConcurrencyHelpers
public import RelayCore

/// Validations in memory: an app that asks again, or waits for what it has just sent, costs the database nothing.
final class ValidationCache: Sendable {
    typealias Recent = RecentCache<ValidationID, KnownValidation>

    private let recent: Recent

    /// - Parameter capacity: of each of two generations; an entry is about half a kilobyte.
    init(capacity: Int = 8_192) {
        recent = Recent(capacity: capacity)
    }

    /// A settled one, see ``RecentCache``.
    func settled(_ id: ValidationID, now: ContinuousClock.Instant = .now) -> KnownValidation? {
        recent.answer(id, now: now).flatMap { $0.validation.status == .pending ? nil : $0 }
    }

    /// One that this process accepted, which has not changed since.
    func pending(_ id: ValidationID, now: ContinuousClock.Instant = .now) -> KnownValidation? {
        recent.answer(id, now: now).flatMap { $0.validation.status == .pending ? $0 : nil }
    }

    func ticket() -> Recent.Ticket { recent.ticket() }

    /// Keeps what a read has found, unless it is not settled yet, or something newer is known to exist.
    func keep(_ known: KnownValidation, read ticket: Recent.Ticket, now: ContinuousClock.Instant = .now) {
        // A time-out may be ours alone, judged by the clock while a grant is being written; and a late grant is what its app asks
        // for. Neither is answered from memory.
        guard known.validation.status != .pending, known.validation.status != .timedOut else { return }
        recent.keep(known, for: known.validation.id, read: ticket, now: now)
    }

    /// Keeps what a statement has accepted.
    ///
    /// - Parameter ticket: taken before the statement was sent.
    func keep(accepted known: KnownValidation, _ ticket: Recent.Ticket, now: ContinuousClock.Instant = .now) {
        recent.keep(known, for: known.validation.id, read: ticket, now: now)
    }

    func changed(_ ids: some Sequence<ValidationID>) { recent.changed(ids) }

    func looked(at sentAt: ContinuousClock.Instant, changed ids: some Sequence<ValidationID>) {
        recent.looked(at: sentAt, changed: ids)
    }

    func clear(at sentAt: ContinuousClock.Instant) { recent.clear(at: sentAt) }

    var isInUse: Bool { recent.isInUse }

    static var patience: Duration { Recent.patience }
    static var keepFor: Duration { Recent.keepFor }
}

/// A validation as it was read. Thousands of held polls share one object.
public final class KnownValidation: Sendable {
    public let validation: Validation
    private let form = NIOLockedValueBox<(any Sendable)?>(nil)

    public init(_ validation: Validation) {
        self.validation = validation
    }

    /// Serialized response, built on first use.
    ///
    /// - Parameter make: the same for all who ask.
    public func serialized<Form: Sendable>(as make: (Validation) -> Form) -> Form {
        form.withLockedValue { form in
            if let made = form as? Form { return made }
            let made = make(validation)
            form = made
            return made
        }
    }
}
