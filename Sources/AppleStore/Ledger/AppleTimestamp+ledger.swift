public import RelayCore

extension AppleTimestamp {
    /// From 1990 to 2099: what is not then is a mistake.
    private static let plausible: Range<Int64> = 631_152_000_000..<4_102_444_800_000

    var moment: Timestamp? {
        Self.plausible.contains(millisecondsSince1970) ? Timestamp(microseconds: millisecondsSince1970 * 1_000) : nil
    }

    /// The same of an end: nil for one that never comes (Xcode writes the year 4001).
    var end: Timestamp? {
        guard millisecondsSince1970 < Self.plausible.upperBound else { return nil }
        return Timestamp(microseconds: max(millisecondsSince1970, Self.plausible.lowerBound) * 1_000)
    }
}

extension AppleEnvironment {
    /// One name for each environment, however the store spells it in this kind of document: `Production`, `Sandbox`, `Xcode`,
    /// `LocalTesting`; one that is not known keeps its own.
    public var name: StoreEnvironment {
        switch kind {
        case .production: .production
        case .sandbox: .sandbox
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        case .unknown: StoreEnvironment(raw)
        }
    }
}
