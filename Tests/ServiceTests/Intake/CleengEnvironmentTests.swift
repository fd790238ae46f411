import Cleeng
import RelayCore
import Testing

@testable import ReceiptRelay

/// One setting selects all of Cleeng's addresses; a mix of two environments causes a warning.
@Suite struct CleengEnvironmentTests {
    private func settings(_ more: [String: String], publishers: String? = nil) throws -> ServeSettings {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        var all = [
            "RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "token",
            "RELAY_CLEENG_PUBLISHER_ID": "123",
        ]
        if let publishers { all["RELAY_PUBLISHERS_FILE"] = try scratch.write("publishers.yaml", publishers) }
        return try ServeSettings(SettingReader(environment: all.merging(more) { $1 }, file: nil))
    }

    private func addresses(_ account: AccountSettings) -> [String?] {
        [account.cleeng.paymentURL, account.cleeng.apiURL, account.cleeng.storeKit2URL, account.notifications.url]
    }

    private static let notifications =
        "https://notification.cleeng.com/1.0/in_app/subscriptions/apple/status_update_notification/123"

    @Test func oneSettingChoosesAllAddresses() throws {
        let sandbox: [String?] = [
            "https://api.sandbox.cleeng.com", "https://api.sandbox.cleeng.com", "https://inapp.api.sandbox.cleeng.com",
            nil,
        ]
        #expect(addresses(try settings([:]).accounts.common) == sandbox)
        #expect(addresses(try settings(["RELAY_CLEENG_ENVIRONMENT": "sandbox"]).accounts.common) == sandbox)
        let production = try settings(["RELAY_CLEENG_ENVIRONMENT": "production"])
        #expect(
            addresses(production.accounts.common) == [
                "https://api.cleeng.com", "https://api.cleeng.com", "https://inapp.api.cleeng.com", Self.notifications,
            ])
        #expect(!production.warnings.contains { $0.contains("RELAY_CLEENG_ENVIRONMENT") })
        #expect(throws: SettingError.self) { try settings(["RELAY_CLEENG_ENVIRONMENT": "staging"]) }
    }

    @Test func anExplicitAddressOverridesAndAMixtureCausesAWarning() throws {
        let proxied = try settings([
            "RELAY_CLEENG_ENVIRONMENT": "production", "RELAY_CLEENG_PAYMENT_URL": "https://proxy.example.test/cleeng",
        ])
        #expect(proxied.accounts.common.cleeng.paymentURL == "https://proxy.example.test/cleeng")
        #expect(!proxied.warnings.contains { $0.contains("RELAY_CLEENG_ENVIRONMENT") })
        let mixed = try settings([
            "RELAY_CLEENG_API_URL": "https://api.cleeng.com", "RELAY_CLEENG_NOTIFICATION_URL": Self.notifications,
        ])
        let warning = try #require(mixed.warnings.first { $0.contains("RELAY_CLEENG_ENVIRONMENT") })
        #expect(warning.contains("RELAY_CLEENG_API_URL, RELAY_CLEENG_NOTIFICATION_URL are of Cleeng's production"))
        #expect(!warning.contains("PAYMENT"))
        let other = try settings([
            "RELAY_CLEENG_ENVIRONMENT": "production",
            "RELAY_CLEENG_STOREKIT2_URL": "https://inapp.api.SANDBOX.cleeng.com",
        ])
        #expect(other.warnings.contains { $0.contains("RELAY_CLEENG_STOREKIT2_URL is of Cleeng's sandbox") })
    }

    /// A host that only resembles Cleeng's belongs to no environment.
    @Test func anotherHostIsOfNoEnvironment() {
        for address in ["https://cleeng.com.example.test", "https://notcleeng.com", "http://127.0.0.1:8090", "off", ""]
        {
            #expect(CleengEnvironment(of: address) == nil, "\(address)")
        }
        #expect(CleengEnvironment(of: "https://sandbox.cleeng.com/api") == .sandbox)
        #expect(CleengEnvironment(of: "https://cleeng.com") == .production)
    }

    @Test func aPublisherMayUseAnotherEnvironment() throws {
        let read = try settings(
            [:], publishers: "nordic: { cleeng: { publisher_token: n, environment: production, publisher_id: '7' } }")
        let nordic = try #require(read.accounts["nordic"])
        #expect(nordic.cleeng.apiURL == "https://api.cleeng.com")
        #expect(nordic.notifications.url?.hasSuffix("/7") == true)
        #expect(read.accounts.common.cleeng.apiURL == "https://api.sandbox.cleeng.com")
        #expect(!read.warnings.contains { $0.contains("RELAY_CLEENG_ENVIRONMENT") })
        let mixed = try settings(
            ["RELAY_CLEENG_API_URL": "https://api.sandbox.cleeng.com"],
            publishers: "nordic: { cleeng: { publisher_token: n, environment: production } }")
        #expect(
            mixed.warnings.contains { $0.hasPrefix("publisher nordic: ") && $0.contains("RELAY_CLEENG_API_URL is") })
    }
}
