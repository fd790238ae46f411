import Foundation
import NIOConcurrencyHelpers

/// One TCP connection whose details a client library would hide.
final class PlainConnection: Sendable {
    struct Failed: Error {
        let what: String
        let number = errno
    }

    struct Answer: Sendable {
        var status: Int
        var head: String
        var body: Data
        var json: JSON { (try? JSON(data: body)) ?? .null }
    }

    private let socket: Int32
    private let host: String
    /// Queue for blocking calls, off the threads of Swift's tasks.
    private let queue = DispatchQueue(label: "plain connection")
    /// Bytes that were read after the last answer.
    private let rest = NIOLockedValueBox(Data())

    /// - Parameter url: `http://127.0.0.1:PORT`.
    init(to url: String) throws {
        guard let port = URL(string: url)?.port else { throw Failed(what: "url") }
        host = "127.0.0.1:\(port)"
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Failed(what: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failed(what: "connect") }
        var limit = timeval(tv_sec: 40, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Glibc.close(socket) }

    /// Closes the client's direction of the connection, or resets it if `abruptly`.
    func leave(abruptly: Bool = false) {
        if abruptly {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            // This resets the connection like a close, but the descriptor remains ours until the end.
            var unspecified = sockaddr()
            unspecified.sa_family = sa_family_t(AF_UNSPEC)
            connect(socket, &unspecified, socklen_t(MemoryLayout<sockaddr>.size))
        } else {
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// The client has sent everything and still reads.
    func endOutput() { shutdown(socket, Int32(SHUT_WR)) }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await send(path, headers: headers)
        return try await answer()
    }

    func send(
        _ path: String, method: String = "GET", headers: [String: String] = [:], body: Data = Data()
    ) async throws {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        try await send(bytes: Array((text + "\r\n").utf8) + Array(body))
    }

    func send(bytes: [UInt8]) async throws {
        try await blocking { [socket] in
            guard write(socket, bytes, bytes.count) == bytes.count else { throw Failed(what: "write") }
        }
    }

    /// Whether the server has closed the connection after the last answer.
    func isEnded() async throws -> Bool {
        try await blocking { [socket, rest] in
            var byte = UInt8(0)
            return rest.withLockedValue(\.isEmpty) && read(socket, &byte, 1) == 0
        }
    }

    /// Reads the next answer, which has a `Content-Length` or no body.
    func answer() async throws -> Answer { try await answer(hasBody: true) }

    /// Reads the next answer, to a `HEAD`.
    func head() async throws -> Answer { try await answer(hasBody: false) }

    private func answer(hasBody: Bool) async throws -> Answer {
        try await blocking { [socket, rest] in
            var bytes = rest.withLockedValue { $0 }
            while bytes.range(of: Data("\r\n\r\n".utf8)) == nil { try Self.more(socket, &bytes) }
            guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { throw Failed(what: "head") }
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            let announced =
                head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            let length = hasBody ? announced : 0
            while bytes.count - end.upperBound < length { try Self.more(socket, &bytes) }
            let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            let body = bytes[end.upperBound...].prefix(length)
            rest.withLockedValue { $0 = Data(bytes[body.endIndex...]) }
            return Answer(status: status, head: head, body: Data(body))
        }
    }

    private static func more(_ socket: Int32, _ bytes: inout Data) throws {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(socket, &buffer, buffer.count)
        guard count > 0 else { throw Failed(what: count == 0 ? "the server closed" : "read") }
        bytes.append(contentsOf: buffer[..<count])
    }

    private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
