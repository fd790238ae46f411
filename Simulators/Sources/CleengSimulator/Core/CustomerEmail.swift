/// A customer's address as customers are compared: trimmed, ASCII letters in lower case, by its bytes.
struct CustomerEmail: Hashable, Sendable {
    /// Trimmed, ASCII letters in lower case, at most 320 bytes, one `@`, no white space inside.
    let text: String

    /// - Returns: nil where the text cannot be an address.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 640 else { return nil }
        let trimmed = Self.lowercased(Self.trim(text))
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard trimmed.utf8.count <= 320, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard !trimmed.contains(where: \.isWhitespace) else { return nil }
        self.text = trimmed
    }

    static func == (left: CustomerEmail, right: CustomerEmail) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    private static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
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
