public import RelayCore

extension AppleTimestamp {
    /// What Xcode writes for an end that never comes: `Date.distantFuture`, the first day of the year 4001.
    private static let never: Int64 = 64_092_211_200_000

    /// In no more microseconds than 64 bits hold: no year is after 9999.
    private var microseconds: Int64 { millisecondsSince1970 * 1_000 }

    /// Nil before 1970, and for its first moment, which is how "none" is written.
    var moment: Timestamp? { microseconds > 0 ? Timestamp(datable: microseconds) : nil }

    /// The same of an end: nil for one that never comes. One before 1970 is over.
    var end: Timestamp? {
        guard millisecondsSince1970 < Self.never else { return nil }
        return Timestamp(datable: max(microseconds, 0))
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
