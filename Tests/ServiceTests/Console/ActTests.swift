import Postgres
import ReceiverSupport
import Relay
import Testing

/// Each act of an operator, through each interface that offers it, writes one row in the audit log, and is not done
/// without it.
@Suite struct ActTests {
    /// Acts that require that no copy runs.
    private static let elsewhere: Set<AuditEntry.Action> = [.encryptionEnabled, .encryptionDisabled, .keysRotated]

    @Test func eachActByEachInterfaceWritesOneRowAndFailsWithoutIt() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver { port, _ in
            let apple = try await AppStoreAPI.start(signing: store)
            try await OtherStores.runAmazon { amazon, settings in
                let settings = store.settings(
                    relayingTo: nil, settings.merging(apple.settings(apple.key)) { $1 })
                try await Setup.run(settings: settings) { setup in
                    let scene = try await ActScene(setup, store, apple, amazon, receiver: port, settings: settings)
                    try await scene.makeTrigger()
                    for action in AuditEntry.Action.allCases where !Self.elsewhere.contains(action) {
                        for door in Door.allCases where action.doors.contains(door) {
                            try await Self.walk(action, door, scene)
                        }
                    }
                }
            }
            await apple.end()
        }
    }

    @Test func eachActIsOfferedByAnInterface() {
        for action in AuditEntry.Action.allCases { #expect(!action.doors.isEmpty, "\(action.rawValue)") }
    }

    private static func walk(_ action: AuditEntry.Action, _ door: Door, _ scene: ActScene) async throws {
        let name = "\(action.rawValue) by \(door)"
        let way = try await scene.way(action, by: door)
        let before = try await scene.value(way.probe)
        let rows = try await scene.actors(action)

        try await scene.close(true)
        #expect(try await !way.act(), "\(name) is done without its row")
        #expect(try await scene.value(way.probe) == before, "\(name) has changed something")
        try await scene.close(false)
        #expect(try await scene.actors(action) == rows, "\(name)")

        #expect(try await way.act(), "\(name) is not done")
        let added = try await scene.actors(action).dropFirst(rows.count)
        #expect(added.count == 1, "\(name): \(added)")
        let actor = door == .commandLine ? "olga (command line)" : "test ops-operator ("
        #expect(added.allSatisfy { $0.hasPrefix(actor) }, "\(name): \(added)")
        guard way.probe != nil else { return }
        #expect(try await scene.value(way.probe) != before, "\(name) has changed nothing")
    }

    @Test func sealingRotatingAndOpeningWriteOneRowEach() async throws {
        let database = try await TestDatabase.make()
        let environment = [
            "RELAY_DATABASE_URL": database.url, "RELAY_ENCRYPTION_KEYS": WrappingKey.make(), "USER": "olga",
        ]
        for (command, action) in [
            ("enable", AuditEntry.Action.encryptionEnabled), ("rotate", .keysRotated), ("disable", .encryptionDisabled),
        ] {
            let ended = try await ChildProcess.run("receipt-relay", ["encryption", command], environment: environment)
            #expect(ended.code == 0, "\(command): \(ended.output)")
            let actors = try await database.query(
                SQL("SELECT actor FROM audit_log WHERE action = $1", [.text(action.rawValue)])
            ).map { try $0.get(0, as: String.self) }
            #expect(actors == ["olga (command line)"], "\(command)")
        }
        try await database.drop()
    }
}
