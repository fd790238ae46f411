/// How often a row may be claimed in a row without being given back. Each such claim may have ended a process.
public struct StrikeLimits: Sendable, Equatable {
    /// From here on the row is processed alone: should it be what ends processes, its neighbours are spared.
    public var isolate: Int
    /// From here on the row is parked for an operator.
    public var park: Int

    /// A parked purchase is a customer without access, and a claim also goes unreturned while the database is away.
    public static let purchases = StrikeLimits(isolate: 10, park: 20)
    public static let items = StrikeLimits(isolate: 2, park: 3)

    public func isSuspect(_ strikes: Int) -> Bool { strikes >= isolate }
    public func isDeadly(_ strikes: Int) -> Bool { strikes >= park }
}
