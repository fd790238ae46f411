import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Rows of the grid for stores: copies are killed one after the other while customers buy and the store sends
/// notifications.
@Suite struct StoreChaosTests {
    /// Two copies; one of them may be dead.
    private actor Copies: Ends {
        private(set) var all: [Relay]
        private let scene: any StoreScene

        init(_ all: [Relay], _ scene: any StoreScene) {
            self.all = all
            self.scene = scene
        }

        /// Kills a copy, sets the other as the store's target, and starts it again.
        func strike(_ index: Int) async throws {
            all[index].process.signal(SIGKILL)
            try await scene.push(to: all[1 - index])
            all[index] = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.setup.relay.keys,
                settings: scene.settings)
        }

        /// Ends all copies except the first, which the scene ends.
        func end() async {
            for copy in all where copy.process.pid != scene.setup.relay.process.pid { await copy.end() }
        }
    }

    private let customers: Int
    private let rounds: Int

    init() throws {
        let isFull = try ChaosSettings().isFull
        (customers, rounds) = isFull ? (200, 30) : (40, 6)
    }

    @Test(.whole, arguments: (try? ChaosSettings())?.stores ?? StoreCase.allCases)
    func validationsMatchTheStoreAndGrantsAreAcknowledgedOnce(_ store: StoreCase) async throws {
        try await store.run { scene in
            let second = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.setup.relay.keys,
                settings: scene.settings)
            let copies = Copies([scene.setup.relay, second], scene)
            try await copies.during {
                try await play(store, scene, copies)
            }
        }
    }

    private func play(_ store: StoreCase, _ scene: any StoreScene, _ copies: Copies) async throws {
        try await scene.simulator.control(.PUT, "delivery", #"{"duplicate":1}"#)
        let (lives, validations) = try await withThrowingTaskGroup(of: Void.self) { [rounds, customers] group in
            group.addTask {
                for round in 0..<rounds {
                    try await Task.sleep(for: .milliseconds(700))
                    try await copies.strike(round % 2)
                }
            }
            var (lives, validations): ([Int: [String]], [Int: String]) = ([:], [:])
            for number in 0..<customers {
                let name = "purchase-\(number)"
                try await scene.simulator.has(name, store == .google ? #"{"isAcknowledged":false}"# : "{}")
                validations[number] = try await buy(name, number, scene, copies)
                lives[number] = store.lives[number % store.lives.count]
                for act in lives[number] ?? [] { try await scene.simulator.act(act, name) }
            }
            try await group.waitForAll()
            return (lives, validations)
        }
        let relay = await copies.all[0]
        for number in 0..<customers {
            let id = try #require(validations[number])
            // Cleeng grants every purchase. A refund then revokes it.
            do {
                _ = try await relay.becomes(lives[number] == ["refund"] ? "revoked" : "granted", id)
            } catch {
                Issue.record("\(try await scene.known(of: "purchase-\(number)", at: relay))")
                throw error
            }
        }
        try await scene.settled()
        for number in 0..<customers where lives[number] == ["cancel"] {
            let willRenew = try await scene.subscription("purchase-\(number)", at: relay)["willRenew"].bool
            #expect(willRenew == false, "purchase-\(number)")
        }
        var acknowledged = 0
        for number in 0..<customers where store == .google {
            let count =
                try await scene.simulator.control(.GET, "subscriptions/purchase-\(number)").json["acknowledgements"]
                .int ?? 0
            // A purchase that was refunded before its grant is not acknowledged.
            #expect(lives[number] == ["refund"] ? count <= 1 : count == 1, "purchase-\(number): \(count)")
            acknowledged += count
        }
        let backlog = try await relay.ops("/ops/summary").json["backlog"]
        #expect(backlog["questionsParked"].int == 0 && backlog["subscriptionsParked"].int == 0)
        print(
            "| \(store.row) | \(customers) purchases | \(rounds) kills | \(customers) end as their lives say | \(acknowledged) acknowledged |"
        )
    }

    /// Posts until a copy answers, like an app.
    private func buy(
        _ name: String, _ number: Int, _ scene: any StoreScene, _ copies: Copies
    ) async throws -> String {
        while true {
            let copy = await copies.all[number % 2]
            if let id = try? await scene.post(name, by: "c\(number)@example.test", to: copy) { return id }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
