import Formats
import NIOConcurrencyHelpers
import RelayCore

/// The database's clock, carried forward by this process's monotonic one: no wall clock but the database's is ever asked,
/// so that a copy whose own is wrong does nothing wrong.
public final class DatabaseClock: Sendable {
    private let anchor = NIOLockedValueBox<Anchor?>(nil)

    private struct Anchor {
        var database: Timestamp
        var monotonic: ContinuousClock.Instant
        var uncertainty: Duration
        var seenAt: ContinuousClock.Instant
        /// The latest time that was given out.
        var given: Timestamp?

        func now(at instant: ContinuousClock.Instant) -> Timestamp { database + (instant - monotonic) }
    }

    /// Furthest that a returned time may be ahead of a sharper answer. A larger difference means another clock.
    private static let mostAhead = Duration.seconds(1)

    public init() {}

    /// Takes in that a statement sent at `sent` and answered at `received` saw `moment`. The sharper of what is known and what
    /// is new is kept; after ten seconds the new one is taken in any case, since clocks drift and primaries change. What is kept is moved so
    /// far that it contradicts no answer: the database was not past `moment` at `sent`, and not before it at `received`.
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

    /// Nil until the database has answered for the first time. It does not go back where a sharper answer replaces one: what a process
    /// does one after the other is dated so.
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

    /// The host's time where the database has not answered yet.
    public var nowOrHostTime: Timestamp { now ?? Self.hostTime }

    /// How far the host's clock is ahead of the database's; negative: behind. Nil until the database has answered.
    public var hostDrift: Duration? { now.map { Self.hostTime - $0 } }

    private static var hostTime: Timestamp { Timestamp(microseconds: WallClock.millisecondsSince1970 * 1_000) }

    /// A moment that is not after the database's now, however long the last answer took: for saying since when something is
    /// known.
    public var noLaterThanNow: Timestamp? {
        anchor.withLockedValue { anchor in
            anchor.map { $0.now(at: .now) - $0.uncertainty / 2 }
        }
    }

    func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        anchor.withLockedValue { $0?.now(at: instant) }
    }
}
