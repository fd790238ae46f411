/// Why customers' tokens cannot be verified at all.
public struct CustomerTokenError: Error, Sendable, Equatable, CustomStringConvertible {
    private enum Code: String {
        case noUsableKey, malformedKeySet
    }

    private let code: Code

    /// The key set holds no key that could verify a signature.
    public static let noUsableKey = Self(code: .noUsableKey)
    /// The text is no JSON Web Key Set.
    public static let malformedKeySet = Self(code: .malformedKeySet)

    /// One of two words, fit for a metric's label.
    public var shortDescription: String { code.rawValue }
    public var description: String { "CustomerTokenError(\(code.rawValue))" }
}
