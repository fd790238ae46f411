import Formats
import NIOConcurrencyHelpers
public import RelayCore

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

    /// Limit of how far a returned time may be ahead of a more precise answer. More than that means another clock.
    private static let mostAhead = Duration.seconds(1)

    public init() {}

    /// Records that a statement sent at `sent` and answered at `received` read the database's time `moment`. The new
    /// answer becomes the anchor unless the present one is more precise and less than ten seconds old: clocks drift and
    /// primaries change. A kept anchor is moved until it agrees with the answer: `moment` lies between `sent` and
    /// `received`.
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

    /// The database's time; nil until the database has answered once. It never decreases because of a more precise
    /// answer, so that the steps of one process have ascending times.
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

    /// A time that is certainly not later than the database's present time. Facts that are known from then on use it.
    public var noLaterThanNow: Timestamp? {
        anchor.withLockedValue { anchor in
            anchor.map { $0.now(at: .now) - $0.uncertainty / 2 }
        }
    }

    func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        anchor.withLockedValue { $0?.now(at: instant) }
    }
}
