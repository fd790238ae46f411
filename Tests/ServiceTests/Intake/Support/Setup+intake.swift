import Postgres
import Testing

extension Setup {
    /// Posts, expects 202, and waits for the end.
    ///
    /// - Returns: the validation's id, how it ended, and what the simulator was sent for it: one forward, or the test fails.
    func pursued(
        _ purchase: RawPurchase, headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (id: String, outcome: JSON, forward: JSON) {
        let known = try await simulator.requests(path: "/apple/payment").count
        let accepted = try await relay.post(purchase.data, headers: headers)
        #expect(accepted.status == 202, "\(accepted.text)", sourceLocation: sourceLocation)
        let id = try #require(accepted.json["validationId"].string, sourceLocation: sourceLocation)
        let outcome = try await relay.outcome(id)
        let forwards = try await simulator.requests(path: "/apple/payment").dropFirst(known)
        #expect(forwards.count == 1, "\(forwards)", sourceLocation: sourceLocation)
        return (id, outcome, forwards.last ?? .null)
    }

    /// How many rows a table has.
    func count(_ table: String) async throws -> Int {
        let rows = try await database.query(SQL(unescaped: "SELECT count(*) FROM \(table)"))
        return Int(try rows.first?.get(0, as: Int64.self) ?? -1)
    }
}
