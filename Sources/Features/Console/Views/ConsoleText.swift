import Formats
import RelayCore

/// Texts for people.
enum ConsoleText {
    /// `2026-11-20 10:00:00.123`, in UTC.
    static func time(_ moment: Timestamp) -> String {
        String(moment.rfc3339.replacing("T", with: " ").dropLast())
    }

    static func time(_ moment: Timestamp?) -> String? { moment.map { time($0) } }

    /// `10:05`.
    static func minute(_ moment: Timestamp) -> String { String(moment.rfc3339.dropFirst(11).prefix(5)) }

    static func tone(_ status: ValidationStatus) -> Tone {
        switch status {
        case .granted: .ok
        case .pending: .link
        case .timedOut: .warning
        case .rejected: .critical
        case .transferred, .revoked: .quiet
        }
    }

    /// Cleeng's API that receives such a purchase.
    static func driver(_ driver: PurchaseDriver) -> String {
        switch driver {
        case .receipt: "a receipt of the App Store's (/apple/payment)"
        case .storekit2: "a StoreKit 2 transaction, by its number (/storekit2/purchases)"
        case .googleV2: "a purchase at Google Play, by the connector (/purchases)"
        default: "a purchase at \(driver.platform.title) (\(driver.platform.paymentPath))"
        }
    }

    /// What a status means for the customer.
    ///
    /// - Parameters:
    ///   - isPursued: whether it is still sent or watched.
    ///   - isSent: whether Cleeng has accepted it.
    static func meaning(_ validation: Validation, isPursued: Bool, isSent: Bool) -> String {
        switch validation.status {
        case .pending: isSent ? "The app waits for an answer." : "The app waits; Cleeng has not taken the purchase yet."
        case .granted:
            validation.late ? "Access was granted after the app had given up." : "Access was granted."
        case .rejected: "It was refused: \(validation.reason ?? "no reason was given")."
        case .timedOut where !isPursued:
            "The app was answered that it failed, and no access came later. It is over."
        case .timedOut:
            isSent
                ? "The app was answered that it failed. Cleeng is still asked for access; a late grant is reported."
                : "The app was answered that it failed. Cleeng has not taken the purchase yet: it is still sent."
        case .transferred: "The subscription belongs to another email now."
        case .revoked: "Access has ended: \(validation.reason ?? "no reason was given")."
        }
    }
}

/// Addresses of the console's pages.
enum ConsoleLink {
    static func validation(_ id: ValidationID) -> String { "/console/validations/\(id)" }

    static func customer<Kind>(_ email: Identifier<Kind>) -> String {
        "/console/customers?email=" + email.text.percentEncoded
    }

    static func subscription(_ key: TransactionID) -> String {
        "/console/subscriptions?originalTransactionId=" + key.text.percentEncoded
    }

    /// A page's address with its query; nil values are omitted.
    static func page(_ path: String, _ items: [(String, String?)]) -> String { path + "?" + query(items) }

    static func query(_ items: [(String, String?)]) -> String {
        items.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }.joined(separator: "&")
    }
}
