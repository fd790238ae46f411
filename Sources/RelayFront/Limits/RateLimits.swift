import HTTPTypes
import Hummingbird
import RelayCore

/// The limits of the app front: by key and by address, each where it is wanted.
struct RateLimits: Sendable {
    let keys: RateLimiter?
    let addresses: RateLimiter?
    let trustedProxies: [AddressRange]

    var areNone: Bool { keys == nil && addresses == nil }

    init(_ configuration: FrontConfiguration) {
        keys = configuration.keyLimit.map { RateLimiter("key", $0) }
        addresses = configuration.addressLimit.map { RateLimiter("address", $0) }
        trustedProxies = configuration.trustedProxies
    }

    /// - Throws: ``Problem`` 429.
    func take(_ request: Request, _ context: FrontContext) throws {
        guard let addresses, !Self.unlimited.contains(request.uri.path) else { return }
        let address = ClientAddress.find(
            peer: context.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
            forwardedFor: request.headers[.xForwardedFor], trusted: trustedProxies)
        guard let address else { return }
        try note(addresses.take(Self.name(of: address)), context)
    }

    /// Who speaks there is known by signatures, comes from few addresses, and gives up after a few tries.
    private static let unlimited: Set<String> = ["/apple/notifications", "/cleeng/webhooks"]

    /// Who has an IPv6 address has a network of them.
    private static func name(of address: IPAddress) -> String {
        address.bytes.count == 4 ? "\(address)" : Hex.text(of: Array(address.bytes.prefix(8)))
    }

    /// - Throws: ``Problem`` 429.
    func take(key id: String, _ context: FrontContext) throws {
        guard let keys else { return }
        try note(keys.take(id), context)
    }

    private func note(_ standing: RateStanding, _ context: FrontContext) throws {
        context.notes.stands(standing)
        try standing.check()
    }
}
