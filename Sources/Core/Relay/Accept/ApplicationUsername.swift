package import RelayCore

/// A publisher's own name for a customer.
package enum ApplicationUsername {
    package static let mostCharacters = 512

    /// Nil if the name is empty, too long, or contains a character that cannot be stored.
    package static func checked(_ text: String) -> Username? {
        guard !text.isEmpty, text.utf8.count <= 4 * mostCharacters, text.unicodeScalars.count <= mostCharacters,
            !text.utf8.contains(0)
        else { return nil }
        return Username(text)
    }
}
