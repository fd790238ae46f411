import Foundation
import Testing

/// The notifications of the shared collection, with their own roots. Its good notifications must be accepted, and its
/// forged ones refused.
@Suite(.enabled(if: NotificationFixtures.folder != nil, "the shared fixtures are not beside the project"))
struct NotificationFixtureTests {
    @Test func eachIsAnsweredAsTheCollectionSays() async throws {
        let folder = try #require(NotificationFixtures.folder)
        let manifest = try JSON(data: Data(contentsOf: folder.appendingPathComponent("MANIFEST.json")))
        let cases = (manifest["cases"].array ?? []).filter { $0["kind"].string == "v2-notification" }
        #expect(cases.count > 15)
        let root = try #require(manifest["jwsRoot"].string)
        let settings = [
            "RELAY_APPLE_EXTRA_ROOTS": folder.appendingPathComponent(root).path,
            "RELAY_APPLE_BUNDLE_IDS": try #require(manifest["bundleId"].string),
            "RELAY_APPLE_APP_ID": "\(try #require(manifest["appAppleId"].int))",
            "RELAY_CLEENG_NOTIFICATION_URL": "off",
        ]
        try await Setup.run(settings: settings) { setup in
            var uuids: Set<String> = []
            for one in cases {
                let file = try #require(one["file"].string)
                let body = try Data(contentsOf: folder.appendingPathComponent(file))
                let answer = try await setup.relay.notify(body)
                if one["expect"].string == "accept" {
                    #expect(answer.status == 200, "\(file)")
                    uuids.insert(try #require(one["notificationUUID"].string))
                } else {
                    #expect([400, 403].contains(answer.status), "\(file)")
                }
            }
            let items = try await setup.relay.ops("/ops/notifications?limit=200").json["items"].array ?? []
            #expect(Set(items.compactMap { $0["notificationUUID"].string }) == uuids)
            #expect(items.count == uuids.count)
        }
    }
}

enum NotificationFixtures {
    /// The folder beside the project; nil if it does not exist.
    static let folder: URL? = {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder = project.deletingLastPathComponent().appendingPathComponent("shared/fixtures/apple/generated")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()
}
