import Cleeng
import Foundation
import Relay
import RelayCore
import Testing
import Yams

@testable import ReceiptRelay

/// The reference is printed from the settings' declarations. The committed files must be the same text, and must
/// describe what the code does.
@Suite struct SettingReferenceTests {
    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let example = project.appendingPathComponent("receipt-relay.example.yaml")
    /// Settings that `serve` requires.
    private static let least = [
        "RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "token",
    ]

    @Test func theDocumentationMatchesTheCommandsOutput() throws {
        let file = Self.project.appendingPathComponent("docs/configure.md")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == SettingReference().markdown,
            "receipt-relay settings --format markdown >docs/configure.md")
    }

    @Test func theExampleFileMatchesTheCommandsOutput() throws {
        #expect(
            try String(contentsOf: Self.example, encoding: .utf8) == SettingReference().yaml,
            "receipt-relay settings --format yaml >receipt-relay.example.yaml")
    }

    @Test func theExampleFileSetsEveryDefaultAndNothingElse() throws {
        let root = try #require(try SettingReader.node(inFile: Self.example.path, "the example"))
        let set = try SettingReader.flatten(root, under: "", "the example").filter { !$0.value.isEmpty }
        let standards = Dictionary(
            uniqueKeysWithValues: Setting.all.filter { $0.production == nil }.compactMap { one in
                one.standard.map { (one.name, $0) }
            })
        #expect(set == standards)
    }

    @Test func settingsCommentedOutInTheExampleFileAreKnown() throws {
        let text = try String(contentsOf: Self.example, encoding: .utf8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.replacing(/#([a-z0-9_]+: )/) { $0.1 }.write(to: file, atomically: true, encoding: .utf8)
        _ = try SettingReader(environment: [:], file: file.path)
        let root = try #require(try SettingReader.node(inFile: file.path, "the example"))
        #expect(Set(try SettingReader.flatten(root, under: "", "it").keys) == Set(Setting.all.flatMap(\.names)))
    }

    @Test func theExampleFileIsAValidConfiguration() throws {
        _ = try ServeSettings(SettingReader(environment: Self.least, file: Self.example.path))
    }

    @Test func everySettingIsDescribedOnceInItsOwnPlace() {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        #expect(SettingReference().groups == Setting.Group.all)
        for setting in Setting.all {
            #expect(
                setting.meaning.count > 2 && setting.meaning.last != "." && !setting.readers.isEmpty, "\(setting.name)")
            #expect(
                Setting.prefix + setting.path.uppercased().replacing(".", with: "_") == setting.name, "\(setting.name)")
            #expect(setting.standard == nil || setting.example == nil, "\(setting.name)")
        }
    }

    /// The defaults of the contract and the documentation, as `serve` reads them.
    @Test func theDefaultsPrintedAreThoseThatServeUses() throws {
        let settings = try ServeSettings(SettingReader(environment: Self.least, file: nil))
        func standard(_ setting: Setting) -> String { setting.standard ?? "" }
        #expect(standard(.httpHost) == settings.httpHost && standard(.httpPort) == "\(settings.httpPort)")
        #expect(standard(.opsHost) == settings.opsHost && standard(.opsPort) == "\(settings.opsPort)")
        #expect(standard(.databaseConnections) == "\(settings.databaseConnections)")
        #expect((standard(.preparedStatements) == "on") == settings.preparesStatements)
        for (setting, duration) in [
            (Setting.pollInterval, settings.pollInterval), (.validationTimeout, settings.validationTimeout),
            (.upstreamTimeout, settings.upstreamTimeout), (.appleRenewalLeeway, settings.apple.renewalLeeway),
            (.webhookTimeout, settings.webhooks.timeout),
        ] {
            #expect(Double(standard(setting)).map { Duration.seconds($0) } == duration, "\(setting.name)")
        }
        #expect(Int(standard(.reconcileHours)).map { Duration.seconds($0 * 3_600) } == settings.reconcileFor)
        #expect(standard(.maxBodyBytes) == "\(settings.maxBodyBytes)")
        #expect(standard(.maxBodiesBytes) == "\(settings.maxBodiesBytes)")
        #expect(standard(.retentionDays) == settings.retention.days.map(String.init))
        #expect(standard(.receiptRetentionDays) == settings.retention.receiptDays.map(String.init))
        #expect(standard(.logLevel) == "\(settings.logLevel)" && standard(.driver) == settings.drivers.rawValue)
        #expect(standard(.appleVerification) == settings.apple.verification.rawValue)
        let cleeng = settings.accounts.common.cleeng
        #expect(standard(.paymentURL) == cleeng.paymentURL && standard(.apiURL) == cleeng.apiURL)
        #expect(standard(.storeKit2URL) == cleeng.storeKit2URL)
        #expect(standard(.entitlementSource) == cleeng.entitlementSource.rawValue)
        #expect(settings.keyLimit == nil && settings.addressLimit == nil && settings.trustedProxies.isEmpty)
        #expect(settings.customerJWKS == nil && settings.appStore == nil && settings.webhooks.urls.isEmpty)
    }

    /// All settings of `serve` as lines. Sets have no order, so they are sorted.
    private static func told(_ more: [String: String] = [:]) throws -> [String] {
        var text = ""
        let environment = least.merging(more) { $1 }
        dump(try ServeSettings(SettingReader(environment: environment, file: nil)), to: &text)
        return text.split(separator: "\n").map(String.init).sorted()
    }

    /// A setting with its default value changes nothing.
    @Test func settingADefaultExplicitlyChangesNothing() throws {
        var spelled: [String: String] = [:]
        for setting in Setting.all { setting.standard.map { spelled[setting.name] = $0 } }
        #expect(try Self.told(spelled) == Self.told())
    }

    @Test(arguments: Setting.all.filter { $0.kind.bounds != nil })
    func thePrintedBoundsAreEnforced(_ setting: Setting) throws {
        let bounds = try #require(setting.kind.bounds)
        func isTaken(_ value: String) -> Bool {
            let environment = Self.least.merging([setting.name: value]) { $1 }
            return (try? ServeSettings(SettingReader(environment: environment, file: nil))) != nil
        }
        #expect(isTaken(bounds.least) && isTaken(bounds.most), "\(setting.name)")
        #expect(!isTaken(bounds.below) && !isTaken(bounds.above) && !isTaken("x"), "\(setting.name)")
        #expect(
            setting.kind.values.contains(bounds.least) && setting.kind.values.contains(bounds.most), "\(setting.name)")
    }

    @Test(arguments: Setting.all)
    func serveUsesEverySetting(_ setting: Setting) throws {
        // A malformed value prevents the start; any other value shows in the settings of `serve`.
        let value: String
        switch setting.kind {
        case .choice, .port, .seconds, .hours, .bytes, .count, .ratio, .url, .addressRanges: value = "?"
        case .path: value = "/there/is/no/such/file"
        case .form, .text:
            value = setting.isSecret || setting.standard != nil ? "other value" : setting.example ?? "other"
        }
        // In the sandbox nothing is forwarded to Cleeng, whatever the publisher's number is.
        let production = [Setting.cleengEnvironment.name: "production"]
        let outcome = Result { try Self.told(production.merging([setting.name: value]) { $1 }) }
        if case .success(let told) = outcome { #expect(try told != Self.told(production), "\(setting.name)") }
    }
}

extension Setting.Kind {
    /// The limits of the allowed values, and values just beyond them. Nil if the setting is not a number.
    fileprivate var bounds: (below: String, least: String, most: String, above: String)? {
        func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }
        switch self {
        case .port: return ("-1", "0", "65535", "65536")
        case .ratio: return ("-0.01", "0", "1", "1.01")
        case .seconds(let range), .hours(let range):
            let (least, most) = (range.lowerBound, range.upperBound)
            return (text(least - 0.01), text(least), text(most), text(most + 0.01))
        case .bytes(let range), .count(let range):
            return ("\(range.lowerBound - 1)", "\(range.lowerBound)", "\(range.upperBound)", "\(range.upperBound + 1)")
        case .text, .form, .url, .choice, .addressRanges, .path: return nil
        }
    }
}
