import Foundation

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

    private static let addresses: [Setting] = [.paymentURL, .apiURL, .storeKit2URL, .notificationURL]

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
