import Postgres
import Testing

extension Setup {
    /// Posts a purchase, expects 202, and waits for the outcome.
    ///
    /// - Returns: the validation's id, its outcome, and the simulator's request for it. Fails unless there was exactly
    ///   one forward.
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

    /// Number of rows in a table.
    func count(_ table: String) async throws -> Int {
        let rows = try await database.query(SQL(unescaped: "SELECT count(*) FROM \(table)"))
        return Int(try rows.first?.get(0, as: Int64.self) ?? -1)
    }
}
