import Foundation
import Postgres

extension Model {
    /// Execution of a plan.
    enum Sequence {
        static func run(_ plan: Plan) async throws -> History {
            let world = try await World.start()
            do {
                let history = try await carryOut(plan, in: world)
                await world.end()
                return history
            } catch {
                await world.end()
                throw error
            }
        }

        private static func carryOut(_ plan: Plan, in world: World) async throws -> History {
            let stalls = Task { await world.journal.watchStalls() }
            defer { stalls.cancel() }
            let began = ContinuousClock.now
            var due = began
            for (ordinal, step) in plan.steps.enumerated() {
                due += .milliseconds(step.after)
                try await Task.sleep(until: due, clock: .continuous)
                try await world.carryOut(step.action, ordinal: ordinal)
            }
            try await world.settleDown()
            try await world.control.heal()
            return try await TestDatabase.withPool(world.database.url) { pool in
                let end = EndState(world: world, pool: pool)
                try await end.awaitCalm()
                await world.awaitFollowers()
                return try await end.history()
            }
        }
    }
}
