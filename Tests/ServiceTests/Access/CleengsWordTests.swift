import Foundation
import Testing

/// Access that rests on Cleeng's statement alone: what was posted is signed by nobody, and gives no period.
@Suite struct CleengsWordTests {
    private static let offer = "S123456789_US"

    /// A purchase on which Cleeng grants for three seconds.
    private func granted(_ setup: Setup, _ control: SimulatorControl) async throws -> String {
        try await control.entitle("ana+never@example.test", to: Self.offer, status: "active", until: Date() + 3)
        let id = try await setup.relay.pursue("ana+never@example.test", offer: Self.offer)
        _ = try await setup.relay.becomes("granted", id)
        return id
    }

    private func run(_ body: (Setup, SimulatorControl) async throws -> Void) async throws {
        try await Setup.run(settings: ["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]) { setup in
            try await body(setup, SimulatorControl(setup.simulator))
        }
    }

    @Test func itEndsWhenCleengSaysNo() async throws {
        try await run { setup, control in
            let id = try await granted(setup, control)
            try await control.entitle("ana+never@example.test", to: Self.offer, status: "terminated")
            let ended = try await setup.relay.becomes("revoked", id)
            #expect(ended["reason"].string == "expired" && ended["accessGranted"].bool == false)
        }
    }

    @Test func itGoesOnUntilCleengsLaterDate() async throws {
        try await run { setup, control in
            let id = try await granted(setup, control)
            let later = Date() + 86_400
            try await control.entitle("ana+never@example.test", to: Self.offer, status: "active", until: later)
            let known = try await Awaiting.fact("the later date is taken over") {
                try await setup.relay.poll(id).json
            } holds: {
                $0["expiresAt"].string.flatMap(Date.init(milliseconds:)).map { $0 > later - 2 } == true
            }
            #expect(known["status"].string == "granted")
        }
    }

    /// Silence is neither yes nor no: Cleeng is asked again.
    @Test func itIsAskedAgainWhileCleengIsAway() async throws {
        try await run { setup, control in
            let id = try await granted(setup, control)
            try await control.trouble("read-503")
            let asked = try await control.reads(of: "ana+never@example.test").count
            try await Awaiting.fact("Cleeng is asked, twice") {
                try await control.reads(of: "ana+never@example.test").count
            } holds: {
                $0 >= asked + 2
            }
            #expect(try await setup.relay.poll(id).json["status"].string == "granted")
            try await control.entitle("ana+never@example.test", to: Self.offer, status: "terminated")
            try await control.heal()
            _ = try await setup.relay.becomes("revoked", id)
        }
    }
}
