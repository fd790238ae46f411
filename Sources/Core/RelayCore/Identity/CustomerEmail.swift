import Formats

/// An email address as the app sent it, beside the form that identifies a customer: emails that differ only in
/// case or in surrounding space are one customer.
public struct CustomerEmail: Hashable, Sendable {
    /// The address as accepted, without surrounding space. Cleeng receives this form.
    public let sent: EmailAddress
    /// Trimmed, ASCII letters in lower case. This form is compared, stored in keys and counted.
    public let customer: CustomerID

    /// RFC 5321 section 4.5.3.1: 64 before the at sign, 255 after it, 254 in all (erratum 1690).
    public static let maximumLength = 254

    /// Nil if the text cannot be an address: no or several at signs outside of quotes, an empty side, white space or
    /// control characters inside, more than ``maximumLength`` bytes. Cleeng judges everything else.
    public init?(_ text: String) {
        let trimmed = text.trimmingSpace()
        guard trimmed.utf8.count <= Self.maximumLength,
            let at = trimmed.utf8.lastIndex(of: UInt8(ascii: "@")),
            at != trimmed.utf8.startIndex, trimmed.utf8.index(after: at) != trimmed.utf8.endIndex
        else { return nil }
        let local = trimmed[..<at]
        let isQuoted = local.hasPrefix("\"") && local.hasSuffix("\"")
        // Compared by bytes: a combining mark would turn an at sign into another character.
        guard local.utf8.count <= 64, isQuoted || !local.utf8.contains(UInt8(ascii: "@")) else { return nil }
        for scalar in trimmed.unicodeScalars
        where scalar.value <= 0x20 || scalar.value == 0x7f || scalar.isSpaceOrControl {
            return nil
        }
        self.sent = EmailAddress(trimmed)
        self.customer = CustomerID(trimmed.asciiLowercased())
    }
}
