extension Duration {
    /// Rounds towards zero, and clamps to 64 bits.
    public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product.addingSaturating(attoseconds / 1_000_000_000_000)
    }

    /// The duration as a floating point number of seconds.
    public var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// Clamps to 64 bits of microseconds; zero for NaN.
    public static func seconds(rounded value: Double) -> Duration {
        let microseconds = (value * 1_000_000).rounded()
        guard !microseconds.isNaN else { return .zero }
        return .microseconds(Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
    }
}

extension Int64 {
    /// The sum, or the limit that it exceeds.
    public func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
