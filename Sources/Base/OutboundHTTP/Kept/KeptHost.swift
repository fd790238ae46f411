import NIOConcurrencyHelpers
import NIOCore

/// The connections to one origin. Executes the decisions of its ``HostPool``.
final class KeptHost: Sendable {
    typealias Pool = HostPool<KeptConnection, KeptCall>

    let origin: Origin
    private let opener: ConnectionOpener
    private let pool: NIOLockedValueBox<Pool>

    init(_ origin: Origin, limit: Int, opener: ConnectionOpener) {
        self.origin = origin
        self.opener = opener
        pool = NIOLockedValueBox(Pool(limit: limit))
    }

    /// Sends the request on a free connection, or waits for one.
    func perform(_ call: KeptCall) async -> KeptCall.Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                call.begin(caller)
                let order = pool.withLockedValue { $0.arrive(call) }
                if order.send == nil { setAlarm(call) }
                follow(order, failing: .cancelled)
                // A cancellation before this point did not find the call in the pool.
                if call.answer != nil { end(call, by: .cancelled) }
            }
        } onCancel: {
            end(call, by: .cancelled)
        }
    }

    /// Sets the deadline alarm of a waiting call. Once a connection has the call, the connection's own alarm ends it.
    private func setAlarm(_ call: KeptCall) {
        call.keep(opener.group.any().scheduleTask(deadline: call.deadline) { self.end(call, by: .timeout) })
    }

    /// Ends a call, whether it waits or is on a connection.
    private func end(_ call: KeptCall, by error: OutboundError) {
        switch pool.withLockedValue({ $0.withdraw(call) }) {
        case .on(let connection): connection.end(call, by: error)
        case .waiting, .none: call.end(.failure(error))
        }
    }

    /// Connections that are open or opening.
    var connectionCount: Int { pool.withLockedValue { $0.opening + $0.busy.count + $0.idle.count } }

    func shutDown() {
        let (order, busy) = pool.withLockedValue { ($0.shutDown(), $0.busy) }
        follow(order, failing: .cancelled)
        for (connection, call) in busy { connection.end(call, by: .cancelled) }
    }

    private func follow(_ order: Pool.Order, failing error: OutboundError) {
        if let (call, connection) = order.send { connection.send(call) }
        for connection in order.close { connection.close() }
        for call in order.fail { call.end(.failure(error)) }
        if order.opens { open() }
    }

    private func open() {
        opener.open(origin, owner: self).whenComplete { result in
            switch result {
            case .success(let connection):
                self.follow(self.pool.withLockedValue { $0.opened(connection) }, failing: .cancelled)
            case .failure(let error):
                self.follow(
                    self.pool.withLockedValue { $0.openingFailed() }, failing: OutboundError(error, afterHead: false))
            }
        }
    }
}

extension KeptHost: ConnectionOwner {
    func freed(_ connection: KeptConnection) {
        follow(pool.withLockedValue { $0.freed(connection) }, failing: .cancelled)
    }

    func closed(_ connection: KeptConnection) {
        follow(pool.withLockedValue { $0.closed(connection) }, failing: .cancelled)
    }

    func returned(_ call: KeptCall, by connection: KeptConnection) {
        let order = pool.withLockedValue { $0.returned(call, by: connection) }
        if order.send == nil { setAlarm(call) }
        follow(order, failing: .cancelled)
    }

    func expired(_ connection: KeptConnection) {
        follow(pool.withLockedValue { $0.expired(connection) }, failing: .cancelled)
    }
}
