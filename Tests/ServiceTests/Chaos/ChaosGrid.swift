import Foundation

/// All rows of the grid, and their table.
struct ChaosGrid: Sendable {
    var rows: [ChaosRow] = []

    static func run(_ settings: ChaosSettings) async throws -> ChaosGrid {
        // A cluster for this grid alone, since the rows damage it.
        let calm = try await PrivateCluster()
        var grid = ChaosGrid()
        await withTaskGroup(of: ChaosRow.self) { group in
            var rest = settings.strikes.makeIterator()
            for _ in 0..<settings.width {
                guard let strike = rest.next() else { break }
                group.addTask { await ChaosRow.run(strike, settings, calm: calm) }
            }
            while let row = await group.next() {
                grid.rows.append(row)
                if settings.isFull {
                    print(
                        "\(row.strike.name): \(row.violations.isEmpty ? "ok" : "FAILED") (\(grid.rows.count) of \(settings.strikes.count))"
                    )
                    fflush(nil)
                }
                if let strike = rest.next() { group.addTask { await ChaosRow.run(strike, settings, calm: calm) } }
            }
        }
        await calm.end()
        grid.rows.sort {
            settings.strikes.firstIndex(of: $0.strike) ?? 0 < settings.strikes.firstIndex(of: $1.strike) ?? 0
        }
        return grid
    }

    private static let columns = [
        "fault", "posts", "accepted", "settled", "reached", "superseded", "lost", "forwards", "overlapped",
        "out of order", "one owner", "fresh", "all", "",
    ]

    /// The grid as a Markdown table with padded columns.
    var table: String {
        let lines = [Self.columns] + rows.map(Self.cells)
        let widths = Self.columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).enumerated().map { index, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + space : space + cell.0
            }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { index, width in
            index == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: max(1, width - 1)) + ":"
        }
        return ([line(Self.columns), line(rule)] + lines.dropFirst().map(line)).joined(separator: "\n")
    }

    private static func cells(_ row: ChaosRow) -> [String] {
        func seconds(_ duration: Duration?) -> String {
            duration.map { "\((($0 / .seconds(1)) * 10).rounded() / 10) s" } ?? "–"
        }
        let name = row.strike.name
        guard let found = row.judgement else {
            let why = row.skipped == nil ? "BROKEN OFF" : "skipped"
            return [name] + Array(repeating: "–", count: columns.count - 2) + [why]
        }
        let counts = [
            row.posts, found.accepted, found.settled, found.reached, found.superseded, found.lost, found.forwards,
            found.overlaps, found.disorders,
        ]
        return [name] + counts.map { "\($0)" } + [
            "\(found.owned)/\(found.subscriptions)", seconds(row.fresh), seconds(row.all),
            row.violations.isEmpty ? "ok" : "FAILED",
        ]
    }
}
