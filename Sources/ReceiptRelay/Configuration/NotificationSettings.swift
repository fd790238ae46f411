import Foundation

/// Target of the App Store's notifications.
struct NotificationSettings: Sendable {
    /// Nil: notifications are not forwarded.
    var url: String?
    /// Settings that may be unintended and are logged at the start.
    var warnings: [String] = []

    private static let placeholder = "{publisherId}"

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        let id = try reader.text(.publisherID)
        guard id.map({ $0.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil }) ?? true else {
            throw SettingError.malformed(.publisherID, wants: "letters, digits, - and _")
        }
        let text = try reader.required(.notificationURL)
        guard text != "off" else { return }
        let address = text.replacing(Self.placeholder, with: id ?? "0")
        guard address.utf8.count <= 2_048, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URL(string: address), ["http", "https"].contains(parts.scheme?.lowercased()),
            parts.host()?.isEmpty == false, parts.user() == nil, parts.fragment() == nil
        else {
            throw SettingError.malformed(
                .notificationURL, wants: "an http or https URL without user and fragment, or off")
        }
        guard id != nil else {
            warnings.append(
                "the App Store's notifications are not passed on: set \(Setting.publisherID.name), or \(Setting.notificationURL.name)=off where that is meant"
            )
            return
        }
        url = address
    }
}
