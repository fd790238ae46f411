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
        try await day.forwardedProperly(posted)
        // Who was refused sends the same again; some of it may have come through all the same.
        let again = await AppClient.post(posted.filter { $0.status == 503 }.map(\.purchase), to: relay)
        #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
    }
}
