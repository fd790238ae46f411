/// What two elements must not have in common to be in one batch.
///
/// The hash alone: two different values that share it keep out of each other's way for nothing, once in 2^64 times.
struct BatchKey: Hashable, Sendable {
    private let hash: Int

    init(_ value: some Hashable) { hash = value.hashValue }
}
