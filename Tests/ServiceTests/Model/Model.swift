/// A model of what must hold of the service under every fault (truths: ``Model/Truth``).
///
///     seed ──► Plan ──► Sequence ──► History ──► Judge ──► Violations
///              (pure)   (processes)  (facts)     (pure)
///
/// A plan is a random list of steps. A sequence carries it out on two copies of the relay over one database, with the
/// simulator as the upstream, and records what is seen. Copies, crashes and clients run concurrently, so no two runs of
/// one plan end alike. The judge checks what must be true of every history.
enum Model {
    /// Seconds since the sequence began. All processes use this machine's clock.
    typealias Seconds = Double
}
