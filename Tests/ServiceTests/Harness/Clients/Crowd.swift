import Foundation
import NIOConcurrencyHelpers

/// Thousands of plain TCP clients on one thread. Each sends its bytes and then only reads.
final class Crowd: Sendable {
    struct Member: Sendable {
        var socket: Int32
        var received: [UInt8] = []
        /// Arrival of an answer's first byte.
        var answeredAt: ContinuousClock.Instant?
        /// When the server closed or reset the connection.
        var closedAt: ContinuousClock.Instant?

        /// The status line's number.
        var status: Int? {
            let line = String(decoding: received.prefix(12), as: UTF8.self)
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }

        var text: String { String(decoding: received, as: UTF8.self) }
    }

    private let state = NIOLockedValueBox<[Member]>([])
    private let queue = DispatchQueue(label: "crowd")

    deinit {
        for member in state.withLockedValue({ $0 }) where member.socket >= 0 { close(member.socket) }
    }

    var members: [Member] { state.withLockedValue { $0 } }

    /// Connects clients one after the other, and lets each send its bytes.
    ///
    /// - Parameter limit: no client joins later. The relay cuts slow clients, so on a slow machine fewer are connected
    ///   at once.
    /// - Returns: number of clients that joined.
    @discardableResult
    func join(
        _ count: Int, to url: String, within limit: Duration = .seconds(600),
        sending bytes: @escaping @Sendable (Int) -> [UInt8]
    ) async throws -> Int {
        guard let port = URL(string: url)?.port else { throw HarnessError.failed("the url", [url]) }
        let before = members.count
        try await onQueue { [state] in
            let end = ContinuousClock.now + limit
            for index in 0..<count where index == 0 || ContinuousClock.now < end {
                let socket = try Self.connect(port: port)
                state.withLockedValue { $0.append(Member(socket: socket)) }
                let bytes = bytes(index)
                guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                    throw HarnessError.failed("send", ["errno \(errno)"])
                }
                _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
            }
        }
        return members.count - before
    }

    /// Number of members whose connection the server has closed.
    func countClosed() async throws -> Int {
        try await onQueue { [self] in lookOnce() }
        return members.count { $0.closedAt != nil }
    }

    /// Reads until `isOver` returns true or the time is over.
    func watch(atMost limit: Duration, until isOver: @escaping @Sendable ([Member]) -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while !isOver(members), ContinuousClock.now < end {
            try await onQueue { [self] in lookOnce() }
        }
    }

    /// Closes these clients' connections without another byte.
    func leave(_ which: Range<Int>) {
        state.withLockedValue { members in
            for index in which where members[index].socket >= 0 {
                close(members[index].socket)
                members[index].socket = -1
            }
        }
    }

    private func lookOnce() {
        let open = members.enumerated().filter { $0.element.socket >= 0 && $0.element.closedAt == nil }
        var descriptors = open.map { pollfd(fd: $0.element.socket, events: Int16(POLLIN), revents: 0) }
        guard poll(&descriptors, nfds_t(descriptors.count), 100) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 8 << 10)
        let now = ContinuousClock.now
        for (descriptor, member) in zip(descriptors, open) where descriptor.revents != 0 {
            let count = recv(descriptor.fd, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            state.withLockedValue { members in
                if count > 0 {
                    members[member.offset].received += buffer[..<count]
                    if members[member.offset].answeredAt == nil { members[member.offset].answeredAt = now }
                } else {
                    members[member.offset].closedAt = now
                }
            }
        }
    }

    private static func connect(port: Int) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw HarnessError.failed("socket", ["errno \(errno)"]) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            let number = errno
            close(socket)
            throw HarnessError.failed("connect", ["errno \(number)"])
        }
        return socket
    }

    /// Runs a blocking call off the threads of Swift's tasks.
    private func onQueue(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
