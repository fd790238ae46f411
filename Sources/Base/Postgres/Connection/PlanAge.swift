/// Decides when a session discards its plans.
///
/// The server keeps the plan of a prepared statement, and of a foreign key check, until a table is analysed. A plan
/// made for a small table may read the whole table for each row once it has grown. No statement's text can prevent
/// that. So a plan lives at most as long as its session had existed when the plan was made, within bounds.
struct PlanAge {
    private let begin: ContinuousClock.Instant
    private let longest: Duration
    private var next: ContinuousClock.Instant

    /// - Parameter bounds: maximum age of the session's first plans, and of any plan.
    init(begin: ContinuousClock.Instant = .now, bounds: ClosedRange<Duration>) {
        self.begin = begin
        longest = bounds.upperBound
        next = begin + bounds.lowerBound
    }

    /// Whether the session must discard its plans now. If true, it is true again once the new plans are too old.
    mutating func isOver(_ now: ContinuousClock.Instant = .now) -> Bool {
        guard now >= next else { return false }
        next = now + min(now - begin, longest)
        return true
    }
}
