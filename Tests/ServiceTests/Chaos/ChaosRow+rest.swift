import Foundation
import Postgres
import RelayCore

extension ChaosRow {
    /// Returns once Cleeng has no pending grants, every purchase was sent, no poll says `pending`, and the newest request of each subscription is
    /// granted.
    static func rest(_ scene: ChaosScene, within limit: Duration) async throws {
        // A customer whom Cleeng entitled before may be granted while Cleeng still moves the subscription.
        try await Awaiting.fact("Cleeng has granted all that waits", is: 0, within: limit) {
            try await scene.day.control.stats()["pendingGrants"].int
        }
        let database = scene.day.database
        try await Awaiting.fact("no validation is pending, unsent, or the newest and not granted", within: limit) {
            let rows = try await database.query(
                SQL(
                    """
                    SELECT count(*) FROM (
                        SELECT v.status, v.deadline, p.phase, row_number() OVER (
                            PARTITION BY v.subscription_key ORDER BY v.accepted_at DESC, v.id DESC) AS place
                        FROM validations v LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id) AS a
                    WHERE status = 0 AND deadline > now() OR phase = 0 OR place = 1 AND status <> 1
                    """))
            try await Task.sleep(for: .milliseconds(150))
            return try rows.first?.get(0, as: Int.self) ?? -1
        } holds: {
            $0 == 0
        }
    }

    /// Time from the end of the fault to the last grant of a purchase accepted before. Both times are from this
    /// machine's clock.
    static func recovery(_ evidence: Evidence, since end: Date) -> Duration? {
        let moment = Int64(end.timeIntervalSince1970 * 1_000_000)
        let settled = evidence.validations
            .filter { $0.acceptedAt <= moment && $0.status == .granted }.compactMap(\.settledAt)
        return settled.max().map { .microseconds(max(0, $0 - moment)) }
    }
}
