import Foundation
import Testing

/// Access that rests on Cleeng's statement alone: the posted purchase is unsigned and states no period.
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

    /// Also guards against a running purchase for the publisher's back end after the app has read its end.
    @Test func itEndsWhenCleengSaysNo() async throws {
        try await run { setup, control in
            let key = try await Relay.makeKey("publisher", setup.database)
            let id = try await granted(setup, control)
            func areExpired() async throws -> [Bool?] {
                try await setup.relay.purchases("ana+never@example.test", key: key).values.map { $0["isExpired"].bool }
            }
            #expect(try await areExpired() == [false])
            try await control.entitle("ana+never@example.test", to: Self.offer, status: "terminated")
            let ended = try await setup.relay.becomes("revoked", id)
            #expect(ended["reason"].string == "expired" && ended["accessGranted"].bool == false)
            #expect(try await areExpired() == [true])
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

    /// A missing answer is neither yes nor no: Cleeng is asked again.
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

    /// Guards against access that continues past its end unnoticed, and against an item that leaves the list after each
    /// failed question. Operators see it from its end until Cleeng has answered.
    @Test func whileCleengIsAwayItIsListedAsOverdue() async throws {
        try await run { setup, control in
            func listed(_ query: String = "") async throws -> [JSON] {
                let answer = try await setup.relay.ops("/ops/access\(query)")
                #expect(answer.status == 200, "\(answer.text)")
                return answer.json["items"].array ?? []
            }
            let id = try await granted(setup, control)
            #expect(try await listed().isEmpty)
            try await control.trouble("read-503")
            let items = try await Awaiting.fact("it is listed", of: { try await listed() }, holds: { !$0.isEmpty })
            #expect(items.count == 1 && items[0]["problem"].string == "overdue", "\(items)")
            #expect(items[0]["validationId"].string == id && items[0]["trouble"].string != nil, "\(items)")
            let asked = try await control.reads(of: "ana+never@example.test").count
            try await Awaiting.fact("Cleeng is asked, twice") {
                let overdue = try await listed("?problem=overdue")
                #expect(overdue.count == 1)
                return try await control.reads(of: "ana+never@example.test").count
            } holds: {
                $0 >= asked + 2
            }
            #expect(try await listed("?problem=unwatched").isEmpty)
            try await control.entitle(
                "ana+never@example.test", to: Self.offer, status: "active", until: Date() + 86_400)
            try await control.heal()
            try await Awaiting.fact("it is listed no longer", of: { try await listed() }, holds: { $0.isEmpty })
            #expect(try await setup.relay.poll(id).json["status"].string == "granted")
        }
    }
}
