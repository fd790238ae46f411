/// Decides which connection to one host takes which call. A pure value: it names what is to be done and does nothing.
///
/// Every call that finds no idle connection waits in one queue, first come, first served. Any connection that becomes free takes the
/// oldest waiting call, so that no call waits for a connection of its own while another is free.
///
/// While calls wait, at least one connection is opening or in use. So each of them is either sent or failed.
struct HostPool<Connection: Hashable & Sendable, Call: Hashable & Sendable>: Sendable {
    /// What to do about one event.
    struct Order {
        var send: (call: Call, connection: Connection)?
        /// Whether to open one more connection.
        var opens = false
        var close: [Connection] = []
        var fail: [Call] = []
    }

    enum Location {
        /// It waited and has left the queue.
        case waiting
        case on(Connection)
        /// It has ended, or has not arrived.
        case none
    }

    /// Most connections, those that are opening included.
    private let limit: Int
    /// The newest last: it is taken first, so that the others can close.
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

    /// - Returns: what the new connection does. If calls still wait, one more is opened: the host accepts connections.
    mutating func opened(_ connection: Connection) -> Order {
        opening -= 1
        guard !isShutDown else { return Order(close: [connection]) }
        var order = offer(connection)
        order.opens = opensAnother()
        return order
    }

    /// One failed attempt among others fails no call: another connection will take it.
    ///
    /// Where it was the last, all waiting calls fail. Opening another for each in turn would let the last of them wait as many times
    /// as long, and call a host that is away once for each pair of them.
    mutating func openingFailed() -> Order {
        opening -= 1
        guard opening == 0, busy.isEmpty, idle.isEmpty else { return Order() }
        defer { waiting = [] }
        return Order(fail: waiting)
    }

    /// The call of a connection has ended, and the connection can take another.
    mutating func freed(_ connection: Connection) -> Order {
        guard busy.removeValue(forKey: connection) != nil else { return Order(close: [connection]) }
        return isShutDown ? Order(close: [connection]) : offer(connection)
    }

    /// A connection has ended, and its call with it.
    mutating func closed(_ connection: Connection) -> Order {
        remove(connection)
        return Order(opens: opensAnother())
    }

    /// A connection has ended before it sent anything of its call: the call goes before all that wait.
    mutating func returned(_ call: Call, by connection: Connection) -> Order {
        remove(connection)
        guard !isShutDown else { return Order(fail: [call]) }
        if let other = idle.popLast() { return assign(call, to: other) }
        waiting.insert(call, at: 0)
        return Order(opens: opensAnother())
    }

    /// A connection has been idle for long enough.
    ///
    /// - Returns: nothing where a call has just been assigned to it.
    mutating func expired(_ connection: Connection) -> Order {
        guard idle.contains(connection) else { return Order() }
        remove(connection)
        return Order(close: [connection])
    }

    /// Takes a call out of the queue, where it is in it.
    mutating func withdraw(_ call: Call) -> Location {
        if let index = waiting.firstIndex(of: call) {
            waiting.remove(at: index)
            return .waiting
        }
        return busy.first { $0.value == call }.map { .on($0.key) } ?? .none
    }

    /// Ends all idle connections and waiting calls. Those in use end by their calls.
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

    /// No more connections open than calls wait.
    private mutating func opensAnother() -> Bool {
        guard !isShutDown, waiting.count > opening, opening + busy.count + idle.count < limit else { return false }
        opening += 1
        return true
    }
}
