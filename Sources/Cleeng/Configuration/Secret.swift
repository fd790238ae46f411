/// Text that must appear in no log line, error or dump: every way to print it gives `***`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    /// The text itself. Read it only where it goes on the wire.
    public var exposed: String { text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
