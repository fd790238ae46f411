import Foundation
import Testing

@testable import ReceiptRelay

/// The example file is the documentation of every setting: it is held against the code.
@Suite struct ExampleFileTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("receipt-relay.example.yaml")

    /// Every key in the file, also those that are commented out, as the setting's name; with its value.
    private static func entries() throws -> [String: String] {
        var entries: [String: String] = [:]
        var section = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            guard let match = line.wholeMatch(of: /( *)(# )?([a-z0-9_]+):(?: +(.*))?/) else { continue }
            let isIndented = !match.1.isEmpty
            var value = String(match.4 ?? "")
            if let comment = value.firstRange(of: "#") { value = String(value[..<comment.lowerBound]) }
            value = value.trimmingCharacters(in: .whitespaces).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            if !isIndented, match.2 == nil, value.isEmpty {
                section = String(match.3)
                continue
            }
            if !isIndented { section = "" }
            let name = [section, String(match.3)].filter { !$0.isEmpty }.joined(separator: "_").uppercased()
            entries["RELAY_" + name] = match.2 == nil ? value : nil
            if match.2 != nil { entries["RELAY_" + name] = "" }
        }
        return entries
    }

    @Test func theFileListsEverySettingAndNoOther() throws {
        let known = Set(Setting.all.flatMap { $0.isSecret ? [$0.name, $0.name + "_FILE"] : [$0.name] })
        #expect(Set(try Self.entries().keys) == known)
    }

    @Test func theFileGivesTheDefaultsOfTheCode() throws {
        let entries = try Self.entries()
        for setting in Setting.all {
            #expect(entries[setting.name] == setting.standard ?? "", "\(setting.name)")
        }
    }

    @Test func theFileItselfIsAGoodConfiguration() throws {
        let reader = try SettingReader(
            environment: [
                "RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "token",
            ],
            file: Self.file.path)
        let settings = try ServeSettings(reader)
        #expect(settings.httpPort == 8080)
        #expect(settings.pollInterval == .seconds(5))
    }
}
