import NIOConcurrencyHelpers

/// Emails by customer number, as one account at Cleeng named them lately. A customer may change the email, so each is
/// remembered for minutes only.
final class NumberMemory: Sendable {
    static let keepFor = Duration.seconds(600)

    private struct Entry {
        var email: String
        var until: ContinuousClock.Instant
    }

    /// Two generations: when the young one is full, it becomes the old one, and the previous old one is dropped.
    private struct State {
        var young: [Int64: Entry] = [:]
        var old: [Int64: Entry] = [:]
    }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter capacity: entries in each of two generations.
    init(capacity: Int = 4_096) { self.capacity = capacity }

    func email(of number: Int64, now: ContinuousClock.Instant = .now) -> String? {
        state.withLockedValue { state in
            guard let entry = state.young[number] ?? state.old[number], entry.until > now else { return nil }
            return entry.email
        }
    }

    func keep(_ email: String, of number: Int64, now: ContinuousClock.Instant = .now) {
        state.withLockedValue { state in
            if state.young.count >= capacity { (state.old, state.young) = (state.young, [:]) }
            state.young[number] = Entry(email: email, until: now + Self.keepFor)
        }
    }
}
