import Postgres
import RelayCore

extension StoredFeature {
    /// Roku's notifications, of which those of Instant Signup name a customer. Erasure deletes them. A repeat is still
    /// known by its name.
    ///
    /// - Parameter message: reads the text of a body; nil if there is none.
    package static func rokuNotifications(_ message: @escaping @Sendable ([UInt8]) -> [UInt8]?) -> StoredFeature {
        StoredFeature(
            tables: TablePolicy(mentions: [
                MentioningRows(
                    member: "notifications", title: "notifications of Roku's", nameMember: "type",
                    textMember: "message",
                    isJSON: true
                ) { last in
                    let place = try last.map(PointerPage.place) ?? .start
                    return """
                        SELECT n.bucket, n.accepted_on - DATE 'epoch' AS day, n.id, n.received_at AS at, n.type, n.publisher,
                               ROW(n.sealed_by, n.body) AS body
                        FROM notifications n
                        WHERE (n.bucket, n.accepted_on, n.id) > (\(place.values))
                          AND n.store = \(.text(StorePlatform.roku.rawValue))
                        ORDER BY n.bucket, n.accepted_on, n.id
                        LIMIT \(.int4(MentioningRows.pageSize))
                        """
                } name: {
                    try $0.get("type")
                } text: {
                    message(try $0.open("body", as: Private<[UInt8]>.self).value) ?? []
                } erasure: { found in
                    """
                    DELETE FROM notifications n
                    USING \(.ids(try found.map { try $0.validationID() }), as: "i")
                    WHERE \(.sameID("n", "i"))
                    """
                }
            ]))
    }
}
