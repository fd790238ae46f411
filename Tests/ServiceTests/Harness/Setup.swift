/// A database, a simulator and one relay for the duration of a test.
struct Setup: Sendable {
    let database: TestDatabase
    let simulator: Simulator
    let relay: Relay

    static func run(
        grantAfter: Double = 0, settings: [String: String] = [:], role: String = "all",
        _ body: (Setup) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start(grantAfter: grantAfter)
        do {
            try await simulator.during {
                let relay = try await Relay.start(
                    database: database, simulator: simulator, role: role, settings: settings)
                try await relay.during { try await body(Setup(database: database, simulator: simulator, relay: relay)) }
            }
        } catch {
            try? await database.drop()
            throw error
        }
        try await database.drop()
    }
}
