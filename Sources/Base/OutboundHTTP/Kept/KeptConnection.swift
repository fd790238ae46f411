import NIOCore

/// An open connection, usable from any thread. Its work runs on its own event loop.
final class KeptConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<KeptConnectionHandler>

    /// Must be called on the channel's event loop.
    init(_ channel: any Channel, _ handler: KeptConnectionHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func send(_ call: KeptCall) { onLoop { $0.send(call, on: self) } }

    /// Ends the call if this connection still has it. Closes the connection too, since an unread answer may still
    /// arrive on it.
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

/// Receiver of a connection's events: the pool that has it. Called on the connection's event loop.
protocol ConnectionOwner: Sendable {
    /// The connection's call has ended, and the connection can take another.
    func freed(_ connection: KeptConnection)
    /// The connection has no call and takes no more.
    func closed(_ connection: KeptConnection)
    /// Like ``closed(_:)``, and the last assigned call can be sent on another connection.
    func returned(_ call: KeptCall, by connection: KeptConnection)
    /// The connection has been idle for the keep-alive time.
    func expired(_ connection: KeptConnection)
}
