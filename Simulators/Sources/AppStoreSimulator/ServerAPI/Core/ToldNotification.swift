import AppStoreSimulation
import Foundation

/// A signed notification, read; nobody has judged its signature.
struct ToldNotification: Sendable {
    static let mostAttempts = 6

    let signedPayload: String
    var uuid: String
    let type: String
    let subtype: String?
    /// In milliseconds since 1970.
    let signedDate: Int64
    let environment: String
    let bundleId: String
    /// nil where it is about no purchase.
    let originalTransactionId: String?
    /// The subscription's number and the transaction's.
    let transactionIds: [String]
    var attempts: [SendAttempt] = []
    /// In the order in which they came.
    var sequence = 0

    /// - Parameter body: as `sign-notification` writes it.
    init(body: Data) throws(JSONFault) {
        let outer: Body = try SimulatedJSON.decode(from: body, fields: ["signedPayload"])
        let payload: Payload = try Self.content(of: outer.signedPayload, "signedPayload")
        guard let about = payload.data ?? payload.summary ?? payload.appData else {
            throw JSONFault("the notification is about nothing")
        }
        guard (0...253_402_300_799_999).contains(payload.signedDate) else {
            throw JSONFault("signedDate is out of range")
        }
        let transaction: Transaction? =
            if let text = about.signedTransactionInfo { try Self.content(of: text, "signedTransactionInfo") } else {
                nil
            }
        signedPayload = outer.signedPayload
        uuid = payload.notificationUUID.lowercased()
        type = payload.notificationType
        subtype = payload.subtype
        signedDate = payload.signedDate
        environment = about.environment
        bundleId = about.bundleId
        originalTransactionId = transaction?.originalTransactionId
        transactionIds = Set([transaction?.originalTransactionId, transaction?.transactionId].compactMap(\.self))
            .sorted()
    }

    var wasTaken: Bool { attempts.contains { $0.sendAttemptResult == .success } }

    private static func content<Content: Decodable>(of text: String, _ name: String) throws(JSONFault) -> Content {
        guard let jws = CompactJWS(text) else { throw JSONFault("\(name) is no JWS") }
        do {
            return try SimulatedJSON.decode(from: jws.payload)
        } catch {
            throw JSONFault("in \(name): \(error)")
        }
    }

    private struct Body: Decodable {
        let signedPayload: String
    }

    private struct Payload: Decodable {
        let notificationType: String
        let subtype: String?
        let notificationUUID: String
        let signedDate: Int64
        let data: About?
        let summary: About?
        let appData: About?
    }

    private struct About: Decodable {
        let environment: String
        let bundleId: String
        let signedTransactionInfo: String?
    }

    private struct Transaction: Decodable {
        let transactionId: String
        let originalTransactionId: String
    }
}
