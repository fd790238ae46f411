import Foundation
import RelayCore
import Testing

@testable import ReceiptRelay

/// Settings of Google Play and the Amazon Appstore.
@Suite struct OtherStoreSettingsTests {
    private func settings(_ more: [String: String]) throws -> ServeSettings {
        let needed = ["RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "token"]
        return try ServeSettings(SettingReader(environment: needed.merging(more) { $1 }, file: nil))
    }

    private func fault(_ more: [String: String]) -> String {
        do {
            _ = try settings(more)
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test func withoutAKeyNoStoreIsAsked() throws {
        let read = try settings([:])
        #expect(read.accounts.common.stores.isEmpty)
    }

    @Test func anAccountAndASecretAreRead() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let secret = try scratch.write("secret", " 2:abc \n")
        let account = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: account) }
        let made = try await ChildProcess.run(
            "store-simulator", ["google", "create-service-account", "--out", account])
        #expect(made.code == 0)
        let read = try settings([
            "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE": account, "RELAY_GOOGLE_API_URL": "http://127.0.0.1:8092/",
            "RELAY_AMAZON_SHARED_SECRET_FILE": secret, "RELAY_AMAZON_RVS_URL": "http://127.0.0.1:8092/sandbox/",
        ])
        let google = try #require(read.accounts.common.stores[.google] as? GoogleAccess)
        #expect(google.apiURL == "http://127.0.0.1:8092")
        #expect(google.tokenURL == "https://oauth2.googleapis.com/token")
        #expect("\(google.account)".contains("iam.gserviceaccount.com"))
        let amazon = try #require(read.accounts.common.stores[.amazon] as? AmazonAccess)
        #expect(amazon.url == "http://127.0.0.1:8092/sandbox")
    }

    @Test func malformedSettingsAreNamedAndNotShown() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let other = try scratch.write("other.json", #"{"type":"authorized_user","private_key":"hunter2"}"#)
        for (name, value) in [
            ("RELAY_GOOGLE_SERVICE_ACCOUNT_FILE", "/nowhere/hunter2"), ("RELAY_GOOGLE_SERVICE_ACCOUNT_FILE", other),
            ("RELAY_GOOGLE_API_URL", "hunter2"), ("RELAY_GOOGLE_API_URL", "http://hunter2@host"),
            ("RELAY_GOOGLE_TOKEN_URL", "ftp://hunter2"), ("RELAY_GOOGLE_TOKEN_URL", "https://host/token?x=hunter2"),
            ("RELAY_AMAZON_SHARED_SECRET", "two hunter2"), ("RELAY_AMAZON_RVS_URL", "https://host/#hunter2"),
        ] {
            let said = fault([name: value])
            #expect(said.contains(name), "\(value): \(said)")
            #expect(!said.contains("hunter2"), "\(said)")
        }
        #expect(fault(["RELAY_AMAZON_SHARED_SECRET_FILE": "/nowhere"]).contains("RELAY_AMAZON_SHARED_SECRET_FILE"))
    }
}
