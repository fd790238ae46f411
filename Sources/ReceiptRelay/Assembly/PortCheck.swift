import ArgumentParser
import Foundation
import NIOCore
import NIOPosix

/// Binds what `serve` will listen on and lets it go again, before anything else is started: a port that is taken is then all that
/// there is to say.
enum PortCheck {
    struct Address {
        var host: String
        var port: Int
        var settings: [Setting]
    }

    /// - Throws: `ExitCode` 70 after one line on standard error.
    static func run(_ addresses: [Address]) async throws {
        // Held until all are bound, so that two fronts on one port are found too.
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
