/// A customer's address in the one form by which customers are told apart: trimmed and in lower case.
struct CustomerEmail: Hashable, Sendable {
    /// Trimmed, lower case, at most 320 bytes, one `@`, no white space inside.
    let text: String

    /// - Returns: nil where the text cannot be an address.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 640 else { return nil }
        let trimmed = Self.trim(text).lowercased()
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard trimmed.utf8.count <= 320, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard !trimmed.contains(where: \.isWhitespace) else { return nil }
        self.text = trimmed
    }

    /// What stands between the plus signs of the local part: `ana+flaky-2+after-3s@…` has `flaky-2` and `after-3s`.
    var plusTags: [Substring] {
        guard let at = text.firstIndex(of: "@") else { return [] }
        return Array(text[..<at].split(separator: "+").dropFirst().prefix(20))
    }

    private static func trim(_ text: some StringProtocol) -> String {
        let head = text.drop(while: \.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(head[...last])
    }
}
