import Formats

/// An app's receipt, classified by its form and decoded from base64.
public enum ReceiptData: Sendable, Hashable {
    /// The bytes of an app receipt (PKCS#7) or of an old transaction receipt (property list).
    case binary([UInt8])
    /// Characters of a compact JWS, without surrounding white space.
    case compactJWS([UInt8])

    /// - Throws: ``ReceiptReadError/empty``, ``ReceiptReadError/tooLarge`` or ``ReceiptReadError/notBase64``.
    public init(_ text: String) throws(ReceiptReadError) {
        guard text.utf8.count <= ReceiptLimits.textBytes else { throw .tooLarge }
        var text = text
        let result = text.withUTF8 { utf8 -> Result<ReceiptData, ReceiptReadError> in
            let trimmed = Self.trimmed(utf8)
            if trimmed.isEmpty { return .failure(.empty) }
            guard let bytes = Base64.decode(trimmed, .lenient) else {
                // No base64 alphabet contains a full stop.
                guard trimmed.contains(UInt8(ascii: ".")) else { return .failure(.notBase64) }
                guard trimmed.count <= ReceiptLimits.jwsBytes else { return .failure(.tooLarge) }
                return .success(.compactJWS(Array(trimmed)))
            }
            return .success(.binary(bytes))
        }
        self = try result.get()
    }

    /// The bytes of a receipt in base64: standard or URL-safe alphabet, white space ignored, padding optional.
    ///
    /// Nil for any other text, an empty one, and one above ``ReceiptLimits/textBytes``. A compact JWS also yields nil.
    public static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= ReceiptLimits.textBytes else { return nil }
        var text = text
        let bytes = text.withUTF8 { Base64.decode($0, .lenient) }
        return bytes?.isEmpty == false ? bytes : nil
    }

    private static func trimmed(_ utf8: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let tail = utf8.drop(while: isSpace)
        guard let last = tail.lastIndex(where: { !isSpace($0) }) else { return tail[tail.endIndex...] }
        return tail[...last]
    }
}
