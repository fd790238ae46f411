/// Which of several connections takes the next statement.
enum LeastLoaded {
    struct Candidate {
        var slot: Int
        /// Statements sent and not answered.
        var inFlight: Int
        /// Those of them whose caller gave up: the server may be stuck on one.
        var abandoned: Int
    }

    /// The one with the fewest in flight, but one that may be stuck only where there is no other. Nil where all are full.
    static func choose(among candidates: some Sequence<Candidate>, depth: Int) -> Int? {
        candidates.lazy.filter { $0.inFlight < depth }
            .min { ($0.abandoned, $0.inFlight, $0.slot) < ($1.abandoned, $1.inFlight, $1.slot) }?.slot
    }
}
