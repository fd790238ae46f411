/// A validation, and when to ask again.
struct Told: Sendable {
    var validation: Validation
    var retryAfter: Duration?
}
