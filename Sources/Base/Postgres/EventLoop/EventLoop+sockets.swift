import CLibPQ

/// Call these on the loop's thread only.
extension EventLoop {
    /// Calls `handler` whenever the socket is readable.
    func register(_ socket: Int32, _ handler: @escaping (UInt32) -> Void) {
        handlers[socket] = handler
        watch(socket, EPOLL_CTL_ADD, EPOLLIN.rawValue)
    }

    /// Starts or stops watching whether the socket is writable.
    func setWriting(_ socket: Int32, _ isWriting: Bool) {
        watch(socket, EPOLL_CTL_MOD, EPOLLIN.rawValue | (isWriting ? EPOLLOUT.rawValue : 0))
    }

    /// Call this before the socket is closed: the system may reuse its number at once.
    func unregister(_ socket: Int32) {
        handlers[socket] = nil
        watch(socket, EPOLL_CTL_DEL, 0)
    }

    /// Sets the owner's only alarm, replacing an earlier one; nil removes it.
    func setAlarm(for owner: ObjectIdentifier, at time: ContinuousClock.Instant?, _ action: @escaping () -> Void) {
        alarms[owner] = time.map { Alarm(time: $0, action: action) }
    }

    func watch(_ socket: Int32, _ operation: Int32, _ interest: UInt32) {
        var event = epoll_event()
        event.events = interest
        event.data.fd = socket
        epoll_ctl(epoll, operation, socket, &event)
    }
}
