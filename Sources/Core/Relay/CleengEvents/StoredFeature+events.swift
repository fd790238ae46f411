import Postgres
import RelayCore

extension StoredFeature {
    /// Cleeng's events. Erasure deletes them.
    package static let cleengEvents = StoredFeature(
        tables: TablePolicy(
            sealed: [PrivateColumns("cleeng_events", key: PrivateColumns.weekly, bytes: ["body"])],
            mentions: [
                MentioningRows(
                    member: "events", title: "events of Cleeng's", nameMember: "topic", textMember: "body",
                    isJSON: false
                ) { last in
                    let place = try last.map(PointerPage.place) ?? .start
                    return """
                        SELECT e.bucket, e.accepted_on - DATE 'epoch' AS day, e.id, e.received_at AS at, e.topic, e.account AS publisher,
                               ROW(e.sealed_by, e.body) AS body
                        FROM cleeng_events e
                        WHERE (e.bucket, e.accepted_on, e.id) > (\(place.values))
                        ORDER BY e.bucket, e.accepted_on, e.id
                        LIMIT \(.int4(MentioningRows.pageSize))
                        """
                } name: {
                    try $0.get("topic")
                } text: {
                    try $0.open("body", as: Private<[UInt8]>.self).value
                } erasure: { found in
                    """
                    DELETE FROM cleeng_events e
                    USING \(.ids(try found.map { try $0.validationID() }), as: "i")
                    WHERE e.bucket = i.bucket AND e.accepted_on = DATE 'epoch' + i.day AND e.id = i.id
                    """
                }
            ]))
}
