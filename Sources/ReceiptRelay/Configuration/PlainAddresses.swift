import Foundation
import RelayCore

/// Upstream addresses that are called without TLS: what is sent there can be read, and what is answered can be changed, on the way.
struct PlainAddresses: Sendable {
    /// Their settings, without those on this machine.
    var names: [String]

    /// Tokens, receipts, customers or keys go there. A collector of traces gets none of these, but for a key of its own in a header.
    private static let upstreams: [Setting] = [
        .paymentURL, .apiURL, .storeKit2URL, .notificationURL, .appleAPIURL, .appleAPISandboxURL, .googleAPIURL,
        .googleTokenURL, .amazonRVSURL, .customerJWKSURL,
    ]

    /// - Throws: ``SettingError`` for the first one where TLS is required, on this machine too.
    init(_ reader: SettingReader, requiresTLS: Bool) throws {
        let collector: [Setting] = try reader.text(.tracingHeaders) == nil ? [] : [.tracingEndpoint]
        let plain = try (Self.upstreams + collector).filter { try reader.text($0).map(Self.isPlain) ?? false }
        if requiresTLS, let first = plain.first {
            throw SettingError.malformed(first.name, wants: "an https URL, since \(Setting.requireTLS.name) is true")
        }
        names = try plain.filter { try reader.text($0).map { !Self.isLocal($0) } ?? false }.map(\.name)
    }

    var warnings: [String] {
        guard !names.isEmpty else { return [] }
        return [
            "no TLS to \(names.joined(separator: ", ")): what is sent there can be read and changed on the way; \(Setting.requireTLS.name)=true refuses http"
        ]
    }

    /// Whatever is no https address is plain: `off` and the like are no address.
    private static func isPlain(_ text: String) -> Bool { text.prefix(5).lowercased() == "http:" }

    private static func isLocal(_ text: String) -> Bool {
        guard let host = URL(string: text)?.host() else { return false }
        let bare = host.filter { $0 != "[" && $0 != "]" }
        if bare.lowercased() == "localhost" { return true }
        guard let address = IPAddress(bare) else { return false }
        return loopback.contains { $0.contains(address) }
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
}
