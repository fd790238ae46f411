/// What one batch may hold.
struct BatchLimits: Sendable {
    var maxCount: Int
    var maxBytes: Int
    var concurrentBatches: Int
    var maxWaiting: Int
}
