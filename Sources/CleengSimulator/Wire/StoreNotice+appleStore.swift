import AppleStore
import RelayCore

extension StoreNotice {
    /// Reads either version; verifies nothing, as test notifications are not Apple's.
    ///
    /// - Throws: 400 where the body is neither.
    init(body: [UInt8]) throws(WireFault) {
        let notification: ServerNotification
        do throws(ServerNotification.ReadError) {
            notification = try ServerNotification(body: body)
        } catch {
            throw WireFault.invalidBody(Self.complaint(error))
        }
        switch notification {
        case .signed(let signed): self.init(signed)
        case .statusUpdate(let unread):
            guard let update = try? unread.read() else { throw WireFault.invalidBody(Self.complaint(.neitherVersion)) }
            self.init(update)
        }
    }

    private init(_ signed: SignedNotification) {
        let transaction = signed.transaction?.payload
        self.init(
            version: .two, type: signed.payload.notificationType, subtype: signed.payload.subtype,
            uuid: signed.payload.notificationUUID,
            originalTransactionId: (transaction?.originalTransactionId
                ?? signed.renewal?.payload.originalTransactionId)?.text,
            signedAt: signed.payload.signedDate.map { Moment($0) },
            expiresAt: transaction?.expiresDate.map { Moment($0) })
    }

    private init(_ update: StatusUpdate) {
        let ours = update.transactions.filter { $0.originalTransactionId == update.originalTransactionId }
        self.init(
            version: .one, type: update.notificationType, subtype: nil, uuid: nil,
            originalTransactionId: update.originalTransactionId?.text, signedAt: nil,
            expiresAt: ours.compactMap(\.expiresDate).max().map { Moment($0) })
    }

    private static func complaint(_ error: ServerNotification.ReadError) -> String {
        switch error {
        case .notJSON: "The body is not a JSON object"
        case .neitherVersion: "The body has neither signedPayload nor notification_type"
        case .unreadable: "signedPayload cannot be read"
        }
    }
}

extension Moment {
    fileprivate init(_ timestamp: AppleTimestamp) {
        self.init(microseconds: timestamp.millisecondsSince1970 * 1_000)
    }
}
