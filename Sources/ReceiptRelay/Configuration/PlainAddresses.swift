import Foundation
import RelayCore

/// Upstream addresses that are called without TLS: what is sent there can be read, and what is answered can be changed, on the way.
struct PlainAddresses: Sendable {
    /// Their settings, without those on this machine.
    var names: [String]

    /// Tokens, receipts, customers or keys go there. A collector of traces gets none of these, but for a key of its own in a header.
    /// Apple's OCSP responder gets serial numbers of Apple's certificates alone, has no TLS, and signs its answers.
    private static let upstreams: [Setting] = [
        .paymentURL, .apiURL, .storeKit2URL, .cleengGoogleURL, .notificationURL, .appleAPIURL, .appleAPISandboxURL,
        .googleAPIURL, .googleTokenURL, .googleJWKSURL, .amazonRVSURL, .amazonSNSURL, .rokuAPIURL, .rokuJWKSURL,
        .customerJWKSURL,
    ]

    /// - Throws: ``SettingError`` for the first one where TLS is required, on this machine too.
    init(_ reader: SettingReader, requiresTLS: Bool) throws {
        let collector: [Setting] = try reader.text(.tracingHeaders) == nil ? [] : [.tracingEndpoint]
        let plain = try (Self.upstreams + collector).filter { try reader.text($0).map(Self.isPlain) ?? false }
        if requiresTLS, let first = plain.first {
            throw SettingError.malformed(first, wants: "an https URL, since \(Setting.requireTLS.name) is true")
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

/// Cleeng's two worlds: a purchase in one gives no access in the other.
enum CleengEnvironment: String, CaseIterable, Sendable {
    case sandbox
    case production

    /// - Returns: nil for an address that is none of Cleeng's own: a proxy, a stand-in.
    init?(of address: String) {
        guard let host = URL(string: address)?.host()?.lowercased() else { return nil }
        let labels = host.split(separator: ".")
        guard labels.suffix(2) == ["cleeng", "com"] else { return nil }
        self = labels.contains("sandbox") ? .sandbox : .production
    }
}

/// Addresses of Cleeng's that are those of another environment than the chosen one.
struct MixedAddresses: Sendable {
    let environment: CleengEnvironment
    /// Their settings.
    var names: [String]

    private static let addresses: [Setting] = [
        .paymentURL, .apiURL, .storeKit2URL, .cleengGoogleURL, .notificationURL,
    ]

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        let chosen = try reader.cleengEnvironment()
        environment = chosen
        names = try Self.addresses.filter { setting in
            try reader.text(setting).flatMap(CleengEnvironment.init(of:)).map { $0 != chosen } ?? false
        }.map(\.name)
    }

    var warnings: [String] {
        guard !names.isEmpty else { return [] }
        let other: CleengEnvironment = environment == .sandbox ? .production : .sandbox
        return [
            "\(Setting.cleengEnvironment.name) is \(environment.rawValue), and \(names.joined(separator: ", ")) \(names.count == 1 ? "is" : "are") of Cleeng's \(other.rawValue): what is bought in one gives no access in the other. Unset \(names.count == 1 ? "it" : "them"), or set \(Setting.cleengEnvironment.name)=\(other.rawValue)"
        ]
    }
}
