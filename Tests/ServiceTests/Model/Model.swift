/// A model of what must hold of the service, whatever happens to it (truths: ``Model/Truth``).
///
///     seed ──► Plan ──► Sequence ──► History ──► Judge ──► Violations
///              (pure)   (processes)  (facts)     (pure)
///
/// A plan is a random list of steps. A sequence carries it out on two copies of the relay over one database, with the
/// simulator as the upstream, and writes down what was seen. Copies, crashes and pollers run at the same time, so no two runs
/// of one plan end alike: the judge asks of a history what must be true of any.
enum Model {
    /// Since the sequence began; all clocks are this machine's.
    typealias Seconds = Double
}
