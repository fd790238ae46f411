/// When a session makes its plans anew.
///
/// The server keeps the plan of a prepared statement, and of a foreign key's check, until a table is analysed. A plan from when a table was
/// small may read all of it for each row when it has grown: no statement's text can prevent that. So a plan gets no older than its session
/// was when it was made, within bounds.
struct PlanAge {
    private let begin: ContinuousClock.Instant
    private let longest: Duration
    private var next: ContinuousClock.Instant

    /// - Parameter bounds: how old the session's first plans get, and any.
    init(begin: ContinuousClock.Instant = .now, bounds: ClosedRange<Duration>) {
        self.begin = begin
        longest = bounds.upperBound
        next = begin + bounds.lowerBound
    }

    /// Whether the session has to forget its plans now. If so, the next answer is yes once the new plans are too old.
    mutating func isOver(_ now: ContinuousClock.Instant = .now) -> Bool {
        guard now >= next else { return false }
        next = now + min(now - begin, longest)
        return true
    }
}
