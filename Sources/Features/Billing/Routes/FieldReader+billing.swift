import HTTPServer

extension FieldReader {
    /// An id of the billing API.
    mutating func id(_ name: String) -> BillingID? {
        guard let text = text(name, characters: 100) else { return nil }
        return BillingID(text) ?? refuse(name, "must be an id: 24 hexadecimal digits")
    }
}
