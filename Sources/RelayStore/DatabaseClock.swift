import Formats
import NIOConcurrencyHelpers
import RelayCore

/// The database's clock, extrapolated by this process's monotonic clock. No other wall clock is used, so a copy with a
/// wrong clock does no harm.
public final class DatabaseClock: Sendable {
    private let anchor = NIOLockedValueBox<Anchor?>(nil)

    private struct Anchor {
        var database: Timestamp
        var monotonic: ContinuousClock.Instant
        var uncertainty: Duration
        var seenAt: ContinuousClock.Instant
        /// The latest time that ``now`` has returned.
        var given: Timestamp?

        func now(at instant: ContinuousClock.Instant) -> Timestamp { database + (instant - monotonic) }
    }

    /// Furthest that a returned time may be ahead of a sharper answer. A larger difference means another clock.
    private static let mostAhead = Duration.seconds(1)

    public init() {}

    /// Records that a statement sent at `sent` and answered at `received` saw the database's time `moment`. The more
    /// precise of the known anchor and the new answer is kept. After ten seconds the new answer always replaces the
    /// anchor, since clocks drift and primaries change. A kept anchor is corrected until no answer contradicts it: at
    /// `sent` the database was not past `moment`, and at `received` not before it.
    public func observe(
        _ moment: Timestamp, sent: ContinuousClock.Instant, received: ContinuousClock.Instant = .now
    ) {
        let uncertainty = received - sent
        anchor.withLockedValue { anchor in
            if var known = anchor, known.uncertainty < uncertainty, received - known.seenAt < .seconds(10) {
                let (behind, ahead) = (moment - known.now(at: received), known.now(at: sent) - moment)
                known.database = known.database + max(.zero, behind) - max(.zero, ahead)
                anchor = known
                return
            }
            anchor = Anchor(
                database: moment, monotonic: sent + uncertainty / 2, uncertainty: uncertainty, seenAt: received,
                given: anchor?.given)
        }
    }

    /// The database's time; nil until the database has answered once. A more precise answer does not turn it back, so
    /// that the successive steps of a process have ascending times.
    public var now: Timestamp? { give(at: .now) }

    func give(at instant: ContinuousClock.Instant) -> Timestamp? {
        anchor.withLockedValue { anchor in
            guard var known = anchor else { return nil }
            var now = known.now(at: instant)
            if let given = known.given, given > now, given - now <= Self.mostAhead { now = given }
            known.given = now
            anchor = known
            return now
        }
    }

    /// The database's time, or the host's until the database has answered.
    public var nowOrHostTime: Timestamp { now ?? Self.hostTime }

    /// How far the host's clock is ahead of the database's; negative if it is behind. Nil until the database has
    /// answered.
    public var hostDrift: Duration? { now.map { Self.hostTime - $0 } }

    private static var hostTime: Timestamp { Timestamp(microseconds: WallClock.millisecondsSince1970 * 1_000) }

    /// A time that is not later than the database's present time, however slow the last answer was. Marks since when a
    /// fact is known.
    public var noLaterThanNow: Timestamp? {
        anchor.withLockedValue { anchor in
            anchor.map { $0.now(at: .now) - $0.uncertainty / 2 }
        }
    }

    func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        anchor.withLockedValue { $0?.now(at: instant) }
    }
}
