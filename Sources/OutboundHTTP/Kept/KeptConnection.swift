import NIOCore

/// An open connection, used from any thread. It acts on its own event loop.
final class KeptConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<KeptConnectionHandler>

    /// On the channel's event loop.
    init(_ channel: any Channel, _ handler: KeptConnectionHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func send(_ call: KeptCall) { onLoop { $0.send(call, on: self) } }

    /// Ends the call, if it still has this connection, and the connection with it: an answer that nobody reads may be on its way.
    func end(_ call: KeptCall, by error: OutboundError) { onLoop { $0.end(call, by: error) } }

    func close() { onLoop { $0.close() } }

    private func onLoop(_ act: @escaping @Sendable (KeptConnectionHandler) -> Void) {
        let handler = handler
        if channel.eventLoop.inEventLoop {
            act(handler.value)
        } else {
            channel.eventLoop.execute { act(handler.value) }
        }
    }
}

extension KeptConnection: Hashable {
    static func == (one: KeptConnection, other: KeptConnection) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a connection reports to the pool that it is in. Called on the connection's event loop.
protocol ConnectionOwner: Sendable {
    /// The call of the connection has ended, and the connection can take another.
    func freed(_ connection: KeptConnection)
    /// The connection takes no more calls, and has none.
    func closed(_ connection: KeptConnection)
    /// The same, and the call that was assigned last can be sent on another connection.
    func returned(_ call: KeptCall, by connection: KeptConnection)
    /// The connection has been idle for the keep-alive time.
    func expired(_ connection: KeptConnection)
}
