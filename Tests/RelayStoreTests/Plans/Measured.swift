import Relay
import RelayCore
import Testing

/// The costs of ``HotCalls``.
struct Measured {
    let database: TestDatabase
    let endpoint: EndpointID

    /// Figures of the second of two rounds: in the first one, a session reads the catalogue.
    func figures(of store: RelayStore) async throws -> [Int64: StatementFigure] {
        try await run(store)
        try await database.forgetFigures()
        try await run(store)
        let figures = try await database.figures()
        // The number of statements in a round, so that none is left out unnoticed.
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
    ///   - situation: text for the failure's message.
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
    /// Pages of one index descent: the root, one or two inner pages, a leaf, the row's page, and as many for old
    /// versions of the row.
    private static let descent = 12

    /// Twenty descents for each row. The longest statements need that many: they write a row and its index entries, or
    /// search each weekly partition. A wrong plan needs hundreds or thousands.
    var most: Int { 20 * Self.descent * (calls + max(rows, HotCalls.size)) }

    /// Three times the pages of the small database, for indexes that are two levels higher, and two descents for each
    /// call.
    ///
    /// The same rows may be spread over fewer or more calls: writers take the rows that have arrived.
    func most(over small: StatementFigure) -> Int {
        let byCalls = small.buffers * calls / max(1, small.calls)
        let byRows = small.buffers * rows / max(1, small.rows)
        return 3 * max(byCalls, byRows) + Self.descent * (2 * calls + HotCalls.size) + rows
    }

    /// Statements of the measurement itself.
    var isLeftOut: Bool { name.contains("pg_stat_statements_reset") }

    var name: String { String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(120)) }
}
