/// A value of a set that the store extends without notice: the word or number it wrote, and what it means if known.
public struct OpenValue<Known: RawRepresentable>: Sendable, Hashable
where Known: Sendable, Known.RawValue: Sendable & Hashable {
    public let raw: Known.RawValue

    public init(raw: Known.RawValue) {
        self.raw = raw
    }

    public init(_ known: Known) {
        raw = known.rawValue
    }

    /// Nil for a value that this program does not know.
    public var known: Known? { Known(rawValue: raw) }
}
