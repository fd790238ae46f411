import NIOCore

/// What one connection may cost.
struct ConnectionLimits: Sendable {
    /// From a request's head to the end of its body.
    var bodyTime: TimeAmount
    /// How long a client may leave its answers unread.
    var writeTime: TimeAmount
    /// The same two once the process is going.
    var farewellTime = TimeAmount.seconds(2)
    /// What is left of a connection this long after the process began to go is cut.
    var shutdownTime = TimeAmount.seconds(8)
    /// For the client to read the last answer, before the connection is closed under a request that is still arriving.
    var lingerTime = TimeAmount.seconds(3)
    /// Body bytes that are read on after the answer was given, before the connection is closed.
    var bodyBytes: Int
}
