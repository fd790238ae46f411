public import Formats
public import NIOHTTP1

/// Bounds of the pauses that servers request.
public enum RetryAfter {
    public static let secondToHour = Duration.seconds(1)...Duration.seconds(3_600)
}

extension HTTPHeaders {
    /// The pause that `Retry-After` requests, in seconds or as a date (RFC 9110, section 10.2.3), clamped. Nil if the
    /// header is missing or unreadable.
    ///
    /// A date is compared with the answer's own `Date`, so that a wrong clock of the relay does no harm.
    ///
    /// - Parameter now: the relay's clock in seconds since 1970, for an answer without a `Date`.
    public func retryAfter(
        within bounds: ClosedRange<Duration> = RetryAfter.secondToHour,
        now: @autoclosure () -> Int64 = WallClock.secondsSince1970
    ) -> Duration? {
        guard let text = first(name: "Retry-After"), !text.isEmpty, text.utf8.count <= 64 else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Duration.seconds(Int64(text) ?? .max).clamped(to: bounds)
        }
        guard let until = HTTPDate.secondsSince1970(text) else { return nil }
        let from = first(name: "Date").flatMap(HTTPDate.secondsSince1970) ?? now()
        return Duration.seconds(until - from).clamped(to: bounds)
    }
}

extension Duration {
    package func clamped(to bounds: ClosedRange<Duration>) -> Duration {
        min(max(self, bounds.lowerBound), bounds.upperBound)
    }
}
