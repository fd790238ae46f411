/// What two elements must not have in common to be in one batch.
// Unchecked: AnyHashable promises nothing about threads. It is made by the batcher's key function, never handed out again, and
// only compared and hashed, under the batcher's lock.
struct BatchKey: Hashable, @unchecked Sendable {
    let value: AnyHashable
}
