/// A request's body did not arrive within its time.
struct RequestTimedOut: Error {}
