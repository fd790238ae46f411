import Foundation
import Testing

/// The grid: every fault against every promise. In seconds here; `scripts/chaos` gives it the time that the promises speak of.
@Suite struct ChaosTests {
    @Test(.timeLimit(.minutes((try? ChaosSettings())?.minutes ?? 1)))
    func noFaultLosesDoublesOrDisordersAnything() async throws {
        let settings = try ChaosSettings()
        guard !settings.strikes.isEmpty else { return }
        for round in 1...settings.rounds {
            let began = ContinuousClock.now
            let grid = try await ChaosGrid.run(settings)
            let took = Int(((ContinuousClock.now - began) / .seconds(1)).rounded())
            print("\nThe grid, round \(round) of \(settings.rounds), \(took) s:\n\n\(grid.table)\n")
            // At once, also into a file: a round takes minutes.
            fflush(nil)
            for row in grid.rows {
                if let why = row.skipped { print("\(row.strike.name) was not tried: \(why)") }
                for violation in row.violations.prefix(20) { Issue.record("\(row.strike.name): \(violation)") }
            }
        }
        PreloadedLibrary.removeAll()
    }
}
