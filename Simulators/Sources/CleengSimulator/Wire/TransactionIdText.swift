/// Apple's transaction ids: text of digits.
enum TransactionIdText {
    static func isAcceptable(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
