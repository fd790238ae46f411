import Foundation
import NIOConcurrencyHelpers

/// Answers one request, reads a second one on any connection, and ends without answering it.
final class DyingServer: Sendable {
    let url: String
    private let count = NIOLockedValueBox(0)

    var requests: Int { count.withLockedValue { $0 } }

    init() throws {
        let port = try FixedPort.free()
        url = "http://127.0.0.1:\(port)"
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 4) == 0 else { throw HarnessError.failed("a server", ["\(errno)"]) }
        Thread.detachNewThread { [count] in Self.serve(listener, count) }
    }

    /// Blocks, so it runs on its own thread. Ends after the second request, or after twenty seconds.
    private static func serve(_ listener: Int32, _ count: NIOLockedValueBox<Int>) {
        var watched = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)
        while count.withLockedValue({ $0 }) < 2, poll(&watched, nfds_t(watched.count), 20_000) > 0 {
            if watched[0].revents != 0 {
                watched.append(pollfd(fd: accept(listener, nil, nil), events: Int16(POLLIN), revents: 0))
                continue
            }
            for index in watched.indices.dropFirst() where watched[index].revents != 0 {
                let connection = watched[index]
                guard read(connection.fd, &buffer, buffer.count) > 0 else {
                    close(connection.fd)
                    // poll(2) ignores a negative descriptor.
                    watched[index].fd = -1
                    continue
                }
                let number = count.withLockedValue { count in
                    count += 1
                    return count
                }
                if number == 1 { _ = write(connection.fd, answer, answer.count) }
            }
        }
        for descriptor in watched where descriptor.fd >= 0 { close(descriptor.fd) }
    }
}
