import Foundation
import TestRun
import Testing

/// The grid: every fault against every promise. Here faults last seconds; with `scripts/chaos` they last as long as the
/// promises name.
@Suite struct ChaosTests {
    @Test(.timeLimit(.paced(minutes: (try? ChaosSettings())?.minutes ?? 1)))
    func noFaultLosesDuplicatesOrReordersPurchases() async throws {
        let settings = try ChaosSettings()
        guard !settings.strikes.isEmpty else { return }
        for round in 1...settings.rounds {
            let began = ContinuousClock.now
            let grid = try await ChaosGrid.run(settings)
            let took = Int(((ContinuousClock.now - began) / .seconds(1)).rounded())
            print("\nThe grid, round \(round) of \(settings.rounds), \(took) s:\n\n\(grid.table)\n")
            // Prints without buffering, also into a file, since a round takes minutes.
            fflush(nil)
            for row in grid.rows {
                if let why = row.skipped { print("\(row.strike.name) was not tried: \(why)") }
                for violation in row.violations.prefix(20) { Issue.record("\(row.strike.name): \(violation)") }
            }
        }
        PreloadedLibrary.removeAll()
    }
}
