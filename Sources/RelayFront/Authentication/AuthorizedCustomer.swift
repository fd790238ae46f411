import RelayCore

/// Whom an app's request may speak for.
enum AuthorizedCustomer: Sendable, Equatable {
    /// No customer tokens are asked for.
    case anybody
    /// The trimmed, lower-cased email of the token.
    case only(CustomerID)

    /// - Throws: ``Problem`` 403.
    func check(_ customer: CustomerID) throws {
        guard case .only(let own) = self, own != customer else { return }
        throw Problem(.anotherCustomer, "the customer token names another email")
    }
}
