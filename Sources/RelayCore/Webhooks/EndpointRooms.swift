/// How the places of a process are shared out among endpoints.
///
/// No endpoint may have more than its own bound, nor more than half of what the others leave free: however many endpoints
/// hang, there is always a place left for the next one.
public struct EndpointRooms: Sendable, Equatable {
    public var places: Int
    public var perEndpoint: Int

    public init(places: Int = 1_024, perEndpoint: Int = 32) {
        self.places = places
        self.perEndpoint = perEndpoint
    }

    /// How many more may be taken up of an endpoint.
    ///
    /// - Parameters:
    ///   - taken: places that are taken, its own included, and those that were just given away.
    ///   - own: of those, its own.
    ///   - allowance: what its breaker lets be under way at once.
    public func room(taken: Int, own: Int, allowance: Int = .max) -> Int {
        let free = places - taken
        guard free > 0 else { return 0 }
        let fair = max(1, (free + own) / 2)
        return max(0, min(perEndpoint, fair, allowance, own + free) - own)
    }
}
