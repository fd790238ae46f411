/// Which traces are recorded.
///
/// Who calls has decided for what it sends; of what begins here a part is taken.
public struct Sampling: Sendable, Equatable {
    /// 0 to 1.
    public let ratio: Double

    public init(ratio: Double) {
        self.ratio = min(max(ratio, 0), 1)
    }

    func takes(using random: inout some RandomNumberGenerator) -> Bool {
        ratio > 0 && Double.random(in: 0..<1, using: &random) < ratio
    }
}
