import AppStoreSimulation
import Foundation

/// What `POST /inApps/v1/notifications/history` asks for.
struct HistoryRequest: Sendable, Equatable {
    /// How far back it may go, in milliseconds.
    static let reach: Int64 = 180 * 86_400_000

    let startDate: Int64
    let endDate: Int64
    let transactionId: String?
    let notificationType: String?
    let notificationSubtype: String?
    let onlyFailures: Bool

    init(body: Data?, at now: Date) throws(APIFault) {
        guard let body, let fields: Fields = try? SimulatedJSON.decode(from: body) else { throw .badRequest }
        guard let start = fields.startDate?.milliseconds else { throw .startDate }
        guard let end = fields.endDate?.milliseconds else { throw .endDate }
        guard start < end else { throw .startAfterEnd }
        guard start >= now.millisecondsSince1970 - Self.reach else { throw .tooFarInPast }
        guard fields.transactionId.map(SimulatedStanding.isNumber) ?? true else { throw .transactionId }
        guard fields.notificationType != nil || fields.notificationSubtype == nil else { throw .notificationType }
        guard fields.transactionId == nil || fields.notificationType == nil else { throw .multipleFilters }
        startDate = start
        endDate = end
        transactionId = fields.transactionId
        notificationType = fields.notificationType
        notificationSubtype = fields.notificationSubtype
        onlyFailures = fields.onlyFailures ?? false
    }

    private struct Fields: Decodable {
        let startDate: Moment?
        let endDate: Moment?
        let transactionId: String?
        let notificationType: String?
        let notificationSubtype: String?
        let onlyFailures: Bool?
    }

    /// A number of milliseconds, or something else in its place.
    private struct Moment: Decodable {
        let milliseconds: Int64?

        init(from decoder: any Decoder) throws {
            let number = try? decoder.singleValueContainer().decode(Int64.self)
            milliseconds = number.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
        }
    }
}
