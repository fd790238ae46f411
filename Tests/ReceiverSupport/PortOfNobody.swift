import Foundation

/// Calls the body with a local port on which no server listens. The port stays reserved, so that no other test's server
/// gets it.
public func withPortOfNobody<Result>(_ body: (Int) async throws -> Result) async throws -> Result {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
        }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    return try await body(Int(UInt16(bigEndian: address.sin_port)))
}
