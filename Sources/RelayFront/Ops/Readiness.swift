/// Whether this copy can do its work.
public struct Readiness: Sendable, Equatable {
    /// What it can not do without and has not got, in fixed words such as `database` and `schema`; empty when ready.
    public var missing: [String]

    public init(missing: [String] = []) {
        self.missing = missing
    }

    public var isReady: Bool { missing.isEmpty }
}
