import NIOConcurrencyHelpers
public import RelayCore

/// Cached validations, so that repeated polls, and the first polls of a new purchase, cost no query.
final class ValidationCache: Sendable {
    typealias Recent = RecentCache<ValidationID, KnownValidation>

    private let recent: Recent

    /// - Parameter capacity: entries in each of two generations; an entry takes about half a kilobyte.
    init(capacity: Int = 8_192) {
        recent = Recent(capacity: capacity)
    }

    /// A cached settled validation; see ``RecentCache``.
    func settled(_ id: ValidationID, now: ContinuousClock.Instant = .now) -> KnownValidation? {
        recent.answer(id, now: now).flatMap { $0.validation.status == .pending ? nil : $0 }
    }

    /// A validation that this process accepted, if it has not changed since.
    func pending(_ id: ValidationID, now: ContinuousClock.Instant = .now) -> KnownValidation? {
        recent.answer(id, now: now).flatMap { $0.validation.status == .pending ? $0 : nil }
    }

    func ticket() -> Recent.Ticket { recent.ticket() }

    /// Caches the validation of a read if it is settled and no newer change is known.
    func keep(_ known: KnownValidation, read ticket: Recent.Ticket, now: ContinuousClock.Instant = .now) {
        // Pending and timed-out validations are not cached. A time-out may be only computed from the clock while a
        // grant is being written, and its app waits for a late grant.
        guard known.validation.status != .pending, known.validation.status != .timedOut else { return }
        recent.keep(known, for: known.validation.id, read: ticket, now: now)
    }

    /// Caches a validation that a statement has accepted.
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
}

/// A validation as read from the database. Thousands of held polls share one object.
public final class KnownValidation: Sendable {
    public let validation: Validation
    private let form = NIOLockedValueBox<(any Sendable)?>(nil)

    public init(_ validation: Validation) {
        self.validation = validation
    }

    /// Serialized response, built on first use.
    ///
    /// - Parameter make: the same function for all callers.
    public func serialized<Form: Sendable>(as make: (Validation) -> Form) -> Form {
        form.withLockedValue { form in
            if let made = form as? Form { return made }
            let made = make(validation)
            form = made
            return made
        }
    }
}
