import Formats
import Foundation

/// Upstream addresses without TLS: anyone on the network path can read the requests and change the answers.
struct PlainAddresses: Sendable {
    /// Names of their settings, without addresses on this machine.
    var names: [String]

    /// Addresses that receive tokens, receipts, customers or keys. A trace collector receives none of these, except its
    /// own key in a header. Apple's OCSP responder is not listed: it receives only serial numbers of Apple's
    /// certificates, has no TLS, and signs its answers.
    private static let upstreams: [Setting] =
        [
            .paymentURL, .apiURL, .storeKit2URL, .cleengGoogleURL, .notificationURL, .appleAPIURL, .appleAPISandboxURL,
        ] + StoreModule.all.flatMap(\.settings).filter { $0.kind == .url } + [.customerJWKSURL]

    /// - Throws: ``SettingError`` for the first plain address if TLS is required, even on this machine.
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

    /// Texts such as `off` are not addresses, and so not plain.
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

/// Cleeng's two environments. A purchase in one gives no access in the other.
enum CleengEnvironment: String, CaseIterable, Sendable {
    case sandbox
    case production

    /// - Returns: nil for an address outside Cleeng's own domains, such as a proxy or a simulator.
    init?(of address: String) {
        guard let host = URL(string: address)?.host()?.lowercased() else { return nil }
        let labels = host.split(separator: ".")
        guard labels.suffix(2) == ["cleeng", "com"] else { return nil }
        self = labels.contains("sandbox") ? .sandbox : .production
    }
}

/// Addresses of Cleeng that belong to another environment than the chosen one.
struct MixedAddresses: Sendable {
    let environment: CleengEnvironment
    /// Names of their settings.
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
