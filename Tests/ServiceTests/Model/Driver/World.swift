import Foundation
import Testing

extension Model {
    /// Two copies of the relay, their database and upstream, and the clients that poll.
    actor World {
        static let slots = 2

        nonisolated let journal: Journal
        nonisolated let database: TestDatabase
        nonisolated let simulator: Simulator
        nonisolated var control: SimulatorControl { SimulatorControl(simulator) }
        private let keys: Relay.Keys
        private var copies: [Relay?] = Array(repeating: nil, count: slots)
        private var started: [Relay] = []
        /// Running calls and copies that are starting.
        private var background: [Task<Void, any Error>] = []
        private var followers: [Task<Void, Never>] = []
        private var followed: Set<String> = []
        private var newest: [Purchase: String] = [:]

        private init(database: TestDatabase, simulator: Simulator, keys: Relay.Keys) {
            journal = Journal()
            self.database = database
            self.simulator = simulator
            self.keys = keys
        }

        /// Starts a world and waits until both copies are ready.
        static func start() async throws -> World {
            let database = try await TestDatabase.make()
            let simulator = try await Simulator.start()
            let world = World(database: database, simulator: simulator, keys: try await Relay.makeKeys(database))
            do {
                async let one: Void = world.startCopy(0)
                async let other: Void = world.startCopy(1)
                _ = try await (one, other)
            } catch {
                await world.end()
                throw error
            }
            return world
        }

        func end() async {
            for task in background { task.cancel() }
            for task in followers { task.cancel() }
            for relay in started { await relay.end() }
            await simulator.end()
            try? await database.drop()
        }

        // MARK: Copies

        private func startCopy(_ slot: Int) async throws {
            let pace = Pace()
            let relay = try await Relay.start(
                database: database, simulator: simulator, keys: keys,
                settings: [
                    "RELAY_POLL_INTERVAL_SECONDS": "\(pace.interval)",
                    "RELAY_VALIDATION_TIMEOUT_SECONDS": "\(pace.timeout)", "RELAY_UPSTREAM_TIMEOUT_SECONDS": "2",
                ])
            started.append(relay)
            copies[slot] = relay
            let ready = Copy(pid: relay.process.pid, slot: slot, readyAt: journal.now)
            journal.note { $0.copies.append(ready) }
        }

        /// Ends the copy of a slot and starts another one. Does nothing if the slot is empty.
        func remove(_ slot: Int, signal: Int32) async {
            guard let relay = copies[slot] else { return }
            copies[slot] = nil
            let pid = relay.process.pid
            let now = journal.now
            journal.note { history in
                for index in history.copies.indices where history.copies[index].pid == pid {
                    history.copies[index].goneAt = now
                }
            }
            relay.process.signal(signal)
            if signal == SIGKILL { _ = await relay.process.exitCode() }
            background.append(Task { try await startCopy(slot) })
        }

        /// Freezes a copy and returns at once. The copy answers the calls of that time after it runs again.
        func freeze(_ slot: Int, milliseconds: Int) {
            guard let process = copies[slot]?.process else { return }
            process.signal(SIGSTOP)
            let from = journal.now
            run {
                try await Task.sleep(for: .milliseconds(milliseconds))
                let freeze = Freeze(pid: process.pid, from: from, to: self.journal.now)
                self.journal.note { $0.freezes.append(freeze) }
                process.signal(SIGCONT)
            }
        }

        func copy(_ slot: Int) -> Relay? { copies[slot] }

        /// The copy of the slot, or the other copy while that one starts. Waits until there is one.
        nonisolated func copy(preferring slot: Int) async throws -> Relay {
            let found = try await Awaiting.fact("a copy is there") {
                await self.anyCopy(preferring: slot)
            } holds: {
                $0 != nil
            }
            guard let found else { throw HarnessError.failed("a copy", []) }
            return found
        }

        private func anyCopy(preferring slot: Int) -> Relay? { copies[slot] ?? copies[(slot + 1) % Self.slots] }

        // MARK: Background work

        func run(_ body: @escaping @Sendable () async throws -> Void) { background.append(Task { try await body() }) }

        /// Waits for everything that the steps started.
        func settleDown() async throws {
            while !background.isEmpty {
                let task = background.removeFirst()
                try await task.value
            }
        }

        func newestID(of purchase: Purchase) -> String? { newest[purchase] }

        /// Starts clients that poll a new validation.
        func follow(_ id: String, of purchase: Purchase) {
            newest[purchase] = id
            guard followed.insert(id).inserted else { return }
            for follower in Follower.several(for: id, ordinal: followed.count, world: self) {
                followers.append(Task { await follower.run() })
            }
        }

        /// Waits for the last poll of each client. A client without an answer ten seconds later is cancelled, which
        /// counts as a missed poll.
        func awaitFollowers() async {
            let lag = journal.history.pace.lag
            journal.lastLook = journal.now + lag
            let all = followers
            followers = []
            let patience = Task {
                try await Task.sleep(for: .seconds(lag + 10))
                for task in all { task.cancel() }
            }
            for task in all { await task.value }
            patience.cancel()
        }
    }
}
