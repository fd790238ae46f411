import Foundation
import NIOConcurrencyHelpers

/// A port for a server that stops and starts again. It is below the range that the kernel gives to clients, since a
/// client could take such a port in the meantime.
enum FixedPort {
    /// Ports that were returned before, so that concurrent tests do not get the same one before either binds it.
    private static let given = NIOLockedValueBox<Set<Int>>([])

    static func free() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 20_000..<32_000)
            if isFree(port), given.withLockedValue({ $0.insert(port).inserted }) { return port }
        }
        throw HarnessError.failed("a free port", [])
    }

    private static func isFree(_ port: Int) -> Bool {
        // A program that starts at this moment must not inherit the socket.
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
