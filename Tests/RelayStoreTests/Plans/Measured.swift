import RelayCore
import RelayStore
import Testing

/// What ``HotCalls`` cost.
struct Measured {
    let database: TestDatabase
    let endpoint: EndpointID

    /// The second of two rounds: in the first one a session reads the catalogue.
    func figures(of store: RelayStore) async throws -> [Int64: StatementFigure] {
        try await run(store)
        try await database.forgetFigures()
        try await run(store)
        let figures = try await database.figures()
        // As many as there are in a round, so that nothing is left out unseen.
        #expect(figures.count > 70)
        return figures
    }

    private func run(_ store: RelayStore) async throws {
        var generator = SystemRandomNumberGenerator()
        let tag = EndpointID(using: &generator).description
        try await HotCalls(store: store, database: database, endpoint: endpoint, tag: tag).run()
    }

    /// - Parameters:
    ///   - small: the figures of the small database.
    ///   - situation: for the message.
    func expectFew(_ figures: [Int64: StatementFigure], _ small: [Int64: StatementFigure], _ situation: String) {
        for (id, figure) in figures where !figure.isLeftOut {
            let most = min(figure.most, small[id].map(figure.most(over:)) ?? .max)
            guard figure.buffers > most else { continue }
            Issue.record(
                """
                \(situation): \(figure.buffers) pages in \(figure.calls) calls for \(figure.rows) rows, at most \(most) are right \
                (\(small[id]?.buffers ?? 0) in the small database): \(figure.name)
                """)
        }
    }
}

extension StatementFigure {
    /// One descent of an index: its root, a page or two below it, a leaf, the row's own page, and as much again for versions of the row
    /// that nobody has cleared away.
    private static let descent = 12

    /// Twenty descents for each row: what the longest statements need, which write a row, with an entry in each of its indexes, or look
    /// into each weekly partition. A plan that is wrong needs hundreds, or thousands.
    var most: Int { 20 * Self.descent * (calls + max(rows, HotCalls.size)) }

    /// Three times as much as in the small database, for indexes that are higher by two levels; and two descents for each call.
    ///
    /// The same rows may come in fewer calls, or in more: writers take what has arrived.
    func most(over small: StatementFigure) -> Int {
        let byCalls = small.buffers * calls / max(1, small.calls)
        let byRows = small.buffers * rows / max(1, small.rows)
        return 3 * max(byCalls, byRows) + Self.descent * (2 * calls + HotCalls.size) + rows
    }

    /// Of the counting itself.
    var isLeftOut: Bool { name.contains("pg_stat_statements_reset") }

    var name: String { String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(120)) }
}
