import RelayCore

/// Decides whether a purchase that this process accepts may be pursued at once. Purchases that wait in the table came first: as long as
/// there may be some, new ones wait behind them.
struct ArrivalGate: Sendable {
    /// As it was when a claim was sent.
    struct Mark: Sendable {
        fileprivate var refusals: [UpstreamRoute: Int]
    }

    private var isOpen = false
    private var reserved: [UpstreamRoute: Int] = [:]
    private var refusals: [UpstreamRoute: Int] = [:]
    /// Routes for which something may wait in the table.
    private var behind: Set<UpstreamRoute> = Set(UpstreamRoute.allCases)

    /// Places that are kept for purchases which are being accepted.
    func reserved(_ route: UpstreamRoute) -> Int { reserved[route] ?? 0 }

    var mark: Mark { Mark(refusals: refusals) }

    mutating func open() { isOpen = true }
    mutating func close() { isOpen = false }

    /// - Parameter available: how many more may be worked on.
    mutating func reserve(_ route: UpstreamRoute, available: Int) -> Bool {
        guard isOpen, !behind.contains(route), available > 0 else {
            refusals[route, default: 0] += 1
            behind.insert(route)
            return false
        }
        reserved[route, default: 0] += 1
        return true
    }

    mutating func release(_ route: UpstreamRoute) { reserved[route, default: 1] -= 1 }

    /// A claim is over.
    ///
    /// - Parameters:
    ///   - isDrained: whether it has left nothing that is due in the route.
    ///   - mark: from before it was sent: what was refused since then is not among what it saw.
    mutating func claimed(_ route: UpstreamRoute, isDrained: Bool, since mark: Mark) {
        if isDrained, refusals[route] == mark.refusals[route] {
            behind.remove(route)
        } else {
            behind.insert(route)
        }
    }
}
