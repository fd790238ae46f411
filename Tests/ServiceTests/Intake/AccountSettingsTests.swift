import Cleeng
import Foundation
import RelayCore
import Testing
import Webhooks

@testable import ReceiptRelay

/// The file of publishers with their own settings.
@Suite struct AccountSettingsTests {
    private func settings(_ file: String, _ more: [String: String] = [:]) throws -> ServeSettings {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let needed = [
            "RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "common-token",
            "RELAY_PUBLISHERS_FILE": try scratch.write("publishers.yaml", file),
        ]
        return try ServeSettings(SettingReader(environment: needed.merging(more) { $1 }, file: nil))
    }

    private func fault(_ file: String) -> String {
        do {
            _ = try settings(file)
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test func secretsAndIdsAreEachPublishersOwnAndAddressesAreShared() throws {
        let read = try settings(
            """
            nordic:
              cleeng: { publisher_token: "nordics-token", api_url: "https://api.example.com/" }
              webhook.password: nordics
            south:
              cleeng.publisher_token: "souths-token"
            """,
            [
                "RELAY_CLEENG_ENVIRONMENT": "production", "RELAY_CLEENG_PAYMENT_URL": "https://pay.example.com",
                "RELAY_CLEENG_API_URL": "https://a.example.com",
                "RELAY_CLEENG_PUBLISHER_ID": "123", "RELAY_CLEENG_WEBHOOK_SECRET": "s", "RELAY_WEBHOOK_PASSWORD": "w",
                "RELAY_AMAZON_SHARED_SECRET": "a",
            ])
        let nordic = try #require(read.accounts["nordic"])
        let common = read.accounts.common
        // Another copy may have an account of this publisher's own: nobody knows before the database was read.
        #expect(read.accounts["main"] == nil)
        #expect(common.cleeng.publisherToken.exposed == "common-token")
        #expect(common.cleeng.apiURL == "https://a.example.com")
        #expect(common.notifications.url?.hasSuffix("/123") == true)
        #expect(common.eventSignature != nil && common.stores[.amazon] != nil)
        #expect(nordic.cleeng.publisherToken.exposed == "nordics-token")
        #expect(nordic.cleeng.apiURL == "https://api.example.com")
        #expect(nordic.cleeng.paymentURL == "https://pay.example.com")
        #expect(nordic.notifications.url == nil && nordic.eventSignature == nil && nordic.stores[.amazon] == nil)
        #expect(read.accounts["south"]?.cleeng.apiURL == "https://a.example.com")
        let credentials = read.webhooks.credentials
        let marks = [credentials.common] + ["nordic", "south"].compactMap { credentials[$0] }
        #expect(Set(marks.map(\.mark.number)).count == 3)
    }

    @Test func namesMayHaveAPrefixAndAFileWithoutPublishersCausesAWarning() throws {
        let read = try settings(
            "nordic: { RELAY_CLEENG_PUBLISHER_TOKEN: n, cleeng: { api_url: 'https://n.example.com' } }")
        #expect(read.accounts.own["nordic"]?.cleeng.publisherToken.exposed == "n")
        #expect(!read.warnings.contains { $0.contains("RELAY_PUBLISHERS_FILE") })
        #expect(try settings("# nobody yet\n").warnings.contains { $0.contains("RELAY_PUBLISHERS_FILE") })
    }

    @Test func malformedValuesAreNamedWithTheirPublisherAndNotShown() {
        for (file, words) in [
            ("nordic: {}", ["publisher nordic", "RELAY_CLEENG_PUBLISHER_TOKEN is required"]),
            ("nordic: { cleeng: { publisher_token: 'hunter2 x' } }", ["nordic", "RELAY_CLEENG_PUBLISHER_TOKEN"]),
            (
                "nordic: { cleeng: { publisher_tokn: hunter2 } }",
                ["nordic", "did you mean RELAY_CLEENG_PUBLISHER_TOKEN"]
            ),
            ("nordic: { cleeng.publisher_token: t, http.port: 1 }", ["nordic", "RELAY_HTTP_PORT cannot be set"]),
            ("nordic: { cleeng.publisher_token: t, webhook.secrets: hunter2 }", ["nordic", "RELAY_WEBHOOK_SECRETS"]),
            ("nordic: { cleeng.publisher_token_file: /nowhere }", ["nordic", "RELAY_CLEENG_PUBLISHER_TOKEN_FILE"]),
            ("'No One': { cleeng.publisher_token: hunter2 }", ["RELAY_PUBLISHERS_FILE", "publishers' ids"]),
            ("- hunter2", ["RELAY_PUBLISHERS_FILE", "mapping"]), ("a: [", ["RELAY_PUBLISHERS_FILE", "YAML"]),
            ("nordic: hunter2", ["nordic", "mapping"]),
            ("nordic: { cleeng.publisher_token_file: /tmp }", ["nordic", "_FILE", "folder"]),
            (
                "nordic: { cleeng.publisher_token: t }\nnordic: { cleeng.publisher_token: u }",
                ["RELAY_PUBLISHERS_FILE", "twice"]
            ),
        ] {
            let said = fault(file)
            for word in words { #expect(said.contains(word), "\(file): \(said)") }
            #expect(!said.contains("hunter2"), "\(said)")
        }
    }
}
