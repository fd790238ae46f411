import Formats
import HTTPServer
import RelayCore

/// Readers of emails, offers, customers and times. Email and offer are required.
extension FieldReader {
    mutating func email(_ name: String) -> CustomerEmail? { required(name).flatMap { email($0, name) } }

    mutating func email(_ text: String, _ name: String) -> CustomerEmail? {
        guard text.trimmingSpace().utf8.count <= CustomerEmail.maximumLength, text.utf8.count <= 1_024 else {
            return refuse(name, .tooLong, "must have at most \(CustomerEmail.maximumLength) bytes")
        }
        return CustomerEmail(text) ?? refuse(name, "must be an email address")
    }

    mutating func offerID(_ name: String) -> OfferID? { required(name).flatMap { offerID($0, name) } }

    mutating func offerID(_ text: String, _ name: String) -> OfferID? {
        guard text.utf8.count <= 100 else { return refuse(name, .tooLong, "must have at most 100 characters") }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isOfID) else {
            return refuse(name, "must be of letters, digits, _, - and .")
        }
        return OfferID(text)
    }

    mutating func username(_ name: String) -> Username? {
        guard let text = optional(name) else { return nil }
        guard !text.isEmpty else { return refuse(name, "must not be empty") }
        return ApplicationUsername.checked(text)
            ?? refuse(name, .tooLong, "must have at most \(ApplicationUsername.mostCharacters) characters")
    }

    /// A positive whole number, or a string of its digits, as Cleeng numbers its customers.
    mutating func positive(_ name: String) -> Int64? {
        let field = self[name]
        guard field != .absent else { return nil }
        let digits: Int64? = if case .string(let text) = field { Int64(text) } else { nil }
        guard let number = field.integer ?? digits else {
            return refuse(name, wants: "a whole number", not: field.kind)
        }
        return number > 0 ? number : refuse(name, "must be greater than 0")
    }

    mutating func moment(_ name: String) -> Timestamp? {
        guard let text = optional(name) else { return nil }
        return Timestamp(rfc3339: text) ?? refuse(name, "must be a time such as 2026-11-20T10:00:00Z, or a date")
    }
}
