/// Limits for claims of a row that were never released, one after the other. Each may have ended a process.
public struct StrikeLimits: Sendable, Equatable {
    /// The row is a suspect: a process works on one suspect at a time.
    public var isolate: Int
    /// The row is parked for an operator.
    public var park: Int

    /// High, because a parked purchase is a customer without access, and no claim is released while the database is away.
    public static let purchases = StrikeLimits(isolate: 10, park: 20)
    public static let items = StrikeLimits(isolate: 2, park: 3)

    public func isSuspect(_ strikes: Int) -> Bool { strikes >= isolate }
    public func isDeadly(_ strikes: Int) -> Bool { strikes >= park }
}
