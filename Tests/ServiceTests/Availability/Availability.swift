import Foundation
import Postgres
import Testing

/// A database of two servers, and what stands between them and the relay. One after the other: each of these days wants the
/// machine for itself.
@Suite(.serialized) enum Availability {
    /// What was promised is in the database as it is now, reached Cleeng, and ended well.
    static func nothingIsLost(of posted: [Posted], on server: DatabaseServer, _ relay: Relay, _ day: BadDay)
        async throws
    {
        #expect(posted.statuses.isSubset(of: [202, 503]), "\(posted.statuses)")
        #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": posted.ids.count])
        let kept = try await server.look("SELECT email FROM validations", in: day.database.name)
            .map { try $0.get(0, as: String.self) }
        #expect(Set(posted.accepted.map(\.purchase.email)).subtracting(kept) == [])
        let sent = Set(try await day.control.payments().compactMap(\.email))
        #expect(Set(posted.accepted.map(\.purchase.email)).subtracting(sent) == [])
        #expect(try await day.control.stats()["overlappingForwards"].int == 0)
        // Who was refused sends the same again; some of it may have come through all the same.
        let again = await AppClient.post(posted.filter { $0.status == 503 }.map(\.purchase), to: relay)
        #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
    }

    static func isReady(_ relay: Relay, _ ready: Bool) async throws {
        try await Awaiting.fact("the copy is \(ready ? "ready" : "not ready")") {
            try await HTTP.get(relay.opsURL + "/readyz").status
        } holds: {
            $0 == (ready ? 200 : 503)
        }
    }
}
