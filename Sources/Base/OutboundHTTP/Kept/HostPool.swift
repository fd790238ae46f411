/// Decides which connection to one host takes which call. A pure value: it returns orders and executes nothing.
///
/// A call without an idle connection waits in one queue, first come, first served. Any connection that becomes free
/// takes the oldest waiting call. So no call waits for a new connection while another is free.
///
/// While calls wait, at least one connection is opening or in use. So each waiting call is either sent or failed.
struct HostPool<Connection: Hashable & Sendable, Call: Hashable & Sendable>: Sendable {
    /// The actions that follow from one event.
    struct Order {
        var send: (call: Call, connection: Connection)?
        /// Whether one more connection must be opened.
        var opens = false
        var close: [Connection] = []
        var fail: [Call] = []
    }

    enum Location {
        /// The call was in the queue, and has been removed.
        case waiting
        case on(Connection)
        /// The call has ended, or has not arrived.
        case none
    }

    /// The highest number of connections, including those that are opening.
    private let limit: Int
    /// Idle connections, the newest last. The newest is used first, so that unneeded ones reach their keep-alive time.
    private(set) var idle: [Connection] = []
    private(set) var busy: [Connection: Call] = [:]
    private(set) var opening = 0
    private(set) var waiting: [Call] = []
    private(set) var isShutDown = false

    init(limit: Int) { self.limit = max(1, limit) }

    mutating func arrive(_ call: Call) -> Order {
        guard !isShutDown else { return Order(fail: [call]) }
        if let connection = idle.popLast() { return assign(call, to: connection) }
        waiting.append(call)
        return Order(opens: opensAnother())
    }

    /// - Returns: the new connection's action. If calls still wait, another connection opens, since the host accepts
    ///   them.
    mutating func opened(_ connection: Connection) -> Order {
        opening -= 1
        guard !isShutDown else { return Order(close: [connection]) }
        var order = offer(connection)
        order.opens = opensAnother()
        return order
    }

    /// Handles a failed connection attempt. No call fails while another attempt is under way.
    ///
    /// If no connection exists, all waiting calls fail together. One attempt for each call in turn would let the last
    /// call wait for all attempts, and would call an unreachable host again and again.
    ///
    /// If all connections are in use, they may hang. The oldest call fails, and another attempt begins for the others.
    mutating func openingFailed() -> Order {
        opening -= 1
        guard opening == 0, !waiting.isEmpty else { return Order() }
        guard busy.isEmpty, idle.isEmpty else {
            let oldest = waiting.removeFirst()
            return Order(opens: opensAnother(), fail: [oldest])
        }
        defer { waiting = [] }
        return Order(fail: waiting)
    }

    /// Handles the end of a connection's call: the connection can take another.
    mutating func freed(_ connection: Connection) -> Order {
        guard busy.removeValue(forKey: connection) != nil else { return Order(close: [connection]) }
        return isShutDown ? Order(close: [connection]) : offer(connection)
    }

    /// Handles the end of a connection together with its call.
    mutating func closed(_ connection: Connection) -> Order {
        remove(connection)
        return Order(opens: opensAnother())
    }

    /// Handles the end of a connection that had sent nothing of its call. The call goes to the head of the queue.
    mutating func returned(_ call: Call, by connection: Connection) -> Order {
        remove(connection)
        guard !isShutDown else { return Order(fail: [call]) }
        if let other = idle.popLast() { return assign(call, to: other) }
        waiting.insert(call, at: 0)
        return Order(opens: opensAnother())
    }

    /// Handles a connection that was idle for the keep-alive time.
    ///
    /// - Returns: an empty order if the connection has just been assigned a call.
    mutating func expired(_ connection: Connection) -> Order {
        guard idle.contains(connection) else { return Order() }
        remove(connection)
        return Order(close: [connection])
    }

    /// Removes a call from the queue if it waits there.
    mutating func withdraw(_ call: Call) -> Location {
        if let index = waiting.firstIndex(of: call) {
            waiting.remove(at: index)
            return .waiting
        }
        return busy.first { $0.value == call }.map { .on($0.key) } ?? .none
    }

    /// Closes all idle connections and fails all waiting calls. A connection in use closes when its call ends.
    mutating func shutDown() -> Order {
        isShutDown = true
        defer { (idle, waiting) = ([], []) }
        return Order(close: idle, fail: waiting)
    }

    private mutating func offer(_ connection: Connection) -> Order {
        guard !waiting.isEmpty else {
            idle.append(connection)
            return Order()
        }
        return assign(waiting.removeFirst(), to: connection)
    }

    private mutating func assign(_ call: Call, to connection: Connection) -> Order {
        busy[connection] = call
        return Order(send: (call, connection))
    }

    private mutating func remove(_ connection: Connection) {
        if busy.removeValue(forKey: connection) == nil { idle.removeAll { $0 == connection } }
    }

    /// Opens no more connections than there are waiting calls.
    private mutating func opensAnother() -> Bool {
        guard !isShutDown, waiting.count > opening, opening + busy.count + idle.count < limit else { return false }
        opening += 1
        return true
    }
}
