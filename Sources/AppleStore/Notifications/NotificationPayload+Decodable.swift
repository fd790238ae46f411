extension NotificationPayload: Decodable {
    private enum Key: String, CodingKey {
        case notificationType, subtype, notificationUUID, version, signedDate, data, summary, appData
        case externalPurchaseToken
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        notificationType = fields.identifier(.notificationType)
        subtype = fields.identifier(.subtype)
        notificationUUID = fields.identifier(.notificationUUID)
        version = fields.identifier(.version)
        signedDate = fields.date(.signedDate)
        data = try? fields.decodeIfPresent(NotificationData.self, forKey: .data)
        for key in [Key.summary, .appData, .externalPurchaseToken] where data == nil && other == nil {
            other = try? fields.decodeIfPresent(NotificationSubject.self, forKey: key)
        }
    }
}

extension NotificationSubject: Decodable {
    private enum Key: String, CodingKey { case environment, bundleId, appAppleId, externalPurchaseId }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        // A token for a purchase outside the store says it in its name only.
        let token = fields.identifier(.externalPurchaseId)
        environment = AppleEnvironment(
            raw: fields.text(.environment) ?? token.map { $0.hasPrefix("SANDBOX") ? "Sandbox" : "Production" } ?? "")
        bundleId = fields.text(.bundleId)
        appAppleId = fields.integer(.appAppleId)
    }
}

extension NotificationData: Decodable {
    private enum Key: String, CodingKey { case signedTransactionInfo, signedRenewalInfo, status }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        subject = try NotificationSubject(from: decoder)
        // Signed texts are longer than what is read as text elsewhere; what bounds them is the message that holds them.
        signedTransactionInfo = (try? fields.decodeIfPresent(String.self, forKey: .signedTransactionInfo)).flatMap {
            $0
        }
        signedRenewalInfo = (try? fields.decodeIfPresent(String.self, forKey: .signedRenewalInfo)).flatMap { $0 }
        status = fields.open(.status)
    }
}
