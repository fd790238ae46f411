import Foundation
import Postgres
import Testing

/// Tests with a database of two servers, or with a pooler before the database. They run one at a time, since each loads
/// the whole machine.
@Suite(.serialized) enum Availability {
    /// Checks that every accepted purchase is in the present primary, reached Cleeng and was granted.
    static func nothingIsLost(of posted: [Posted], on server: DatabaseServer, _ relay: Relay, _ day: BadDay)
        async throws
    {
        #expect(posted.statuses.isSubset(of: [202, 503]), "\(posted.statuses)")
        #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": posted.ids.count])
        let kept = try await server.look("SELECT email FROM validations", in: day.database.name)
            .map { try $0.get(0, as: String.self) }
        #expect(Set(posted.accepted.map(\.purchase.email)).subtracting(kept) == [])
        try await day.forwardedProperly(posted)
        // Refused apps repeat their requests. Some of the first requests may have been committed.
        let again = await AppClient.post(posted.filter { $0.status == 503 }.map(\.purchase), to: relay)
        #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
    }
}
