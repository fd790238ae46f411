/// The shared secret of a developer's account. It goes into a path, and nowhere else: every way to print it gives `***`.
public struct AmazonSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String

    /// - Returns: nil for what Amazon gives out to nobody: it has letters, digits and a few signs, and no spaces.
    public init?(_ text: String) {
        guard (1...512).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
