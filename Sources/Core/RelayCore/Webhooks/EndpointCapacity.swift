/// Divides the places of a process among endpoints.
///
/// An endpoint may use at most its own bound, and at most half of what the others leave free. So one more endpoint
/// always finds a place, however many endpoints hang.
public struct EndpointCapacity: Sendable, Equatable {
    public var places: Int
    public var perEndpoint: Int

    public init(places: Int = 1_024, perEndpoint: Int = 32) {
        self.places = places
        self.perEndpoint = perEndpoint
    }

    /// Whether there are fewer places than a number of endpoints may use.
    public func isScarce(for endpoints: Int) -> Bool { endpoints * perEndpoint > places }

    /// How many places the endpoints of one publisher may use: a quarter if several publishers have endpoints.
    public func most(ofPublishers count: Int) -> Int { count > 1 ? max(1, places / 4) : places }

    /// How many more messages of an endpoint may be claimed.
    ///
    /// - Parameters:
    ///   - taken: used places, including the endpoint's own and those just assigned.
    ///   - own: the endpoint's own among them.
    ///   - allowance: number of calls that its breaker allows at once.
    public func available(taken: Int, own: Int, allowance: Int = .max) -> Int {
        let free = places - taken
        guard free > 0 else { return 0 }
        let fair = max(1, (free + own) / 2)
        return max(0, min(perEndpoint, fair, allowance, own + free) - own)
    }
}
