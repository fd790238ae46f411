package import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The connection under a request.
package struct Connection: Sendable {
    package let channel: any Channel

    /// Waits until the client has gone, or the simulator shuts down.
    package func waitUntilClosed() async {
        try? await channel.closeFuture.get()
    }

    /// Waits for a time, or until the connection is closed.
    /// - Returns: whether the connection is still open.
    package func wait(milliseconds: Int64) async -> Bool {
        let sleep = Task { try await Task.sleep(for: .milliseconds(milliseconds)) }
        channel.closeFuture.whenComplete { _ in sleep.cancel() }
        _ = await sleep.result
        return channel.isActive
    }

    /// Cuts the connection with a TCP reset: what has been sent and not yet read is lost, and the other side gets
    /// "connection reset by peer".
    package func reset() async {
        if let options = channel as? any SocketOptionProvider {
            try? await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close().get()
    }
}
