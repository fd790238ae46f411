import Formats

/// Id of a webhook endpoint: 24 random hexadecimal digits in lower case.
public struct EndpointID: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless exactly 24 hexadecimal digits, in either case.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 24, let bytes = Hex.bytes(Substring(text)) else { return nil }
        description = Hex.text(of: bytes)
    }

    public init(using generator: inout some RandomNumberGenerator) {
        description = Hex.text(of: generator.next()) + Hex.text(of: generator.next()).prefix(8)
    }
}
