import ArgumentParser
import Foundation
import NIOCore
import NIOPosix

/// Binds the addresses of `serve` and releases them before anything else starts. A port in use is then the only error
/// that is reported.
enum PortCheck {
    struct Address {
        var host: String
        var port: Int
        var settings: [Setting]
    }

    /// - Throws: `ExitCode` 70 after one line on standard error.
    static func run(_ addresses: [Address]) async throws {
        // All addresses stay bound until the last is, so that two fronts on one port are found too.
        var channels: [any Channel] = []
        var trouble: String?
        for address in addresses where address.port != 0 && trouble == nil {
            do {
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: address.host, port: address.port).get()
                channels.append(channel)
            } catch {
                trouble = line(error, address)
            }
        }
        for channel in channels { try? await channel.close() }
        guard let trouble else { return }
        throw Failure(trouble, 70)
    }

    private static func line(_ error: any Error, _ address: Address) -> String {
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        let why =
            (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
            ?? "\(error)".split(separator: "\n").joined(separator: " ")
        let settings = address.settings.map(\.name).joined(separator: " and ")
        return "cannot listen on \(host):\(address.port): \(why); end what listens there, or change \(settings)"
    }
}
