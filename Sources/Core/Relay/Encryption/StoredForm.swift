/// The forms of a private column's value. The row's `sealed_by` says which one it has.
///
/// Copies of the previous version do not know `sealed_by`. The marks let them read what this version writes, and
/// compare names, while both versions run. A later version can leave the marks out.
enum StoredForm {
    /// Prefix of a sealed text, in Base85.
    static let textMark = Array("sealed1:".utf8)
    /// Prefix of an unsealed text that begins with ``marks``, always added to such a text.
    static let escape = Array("sealed0:".utf8)
    static let marks = Array("sealed".utf8)
    /// Prefix of sealed bytes, followed by the number of their data key.
    static let byteMark: [UInt8] = [0] + Array("sealed".utf8)
    private static let byteHead = byteMark.count + 4

    static func plain(text: [UInt8]) -> [UInt8] { text.starts(with: marks) ? escape + text : text }

    static func text(ofPlain stored: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](stored.starts(with: escape) ? stored.dropFirst(escape.count) : stored[...])
    }

    static func sealed(text box: [UInt8]) -> [UInt8] { textMark + Base85.encode(box) }

    /// Nil for text that ``sealed(text:)`` does not produce.
    static func box(ofSealedText stored: UnsafeRawBufferPointer) -> [UInt8]? {
        stored.starts(with: textMark) ? Base85.decode(stored.dropFirst(textMark.count)) : nil
    }

    static func sealed(bytes box: [UInt8], by number: Int32) -> [UInt8] {
        byteMark + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } + box
    }

    /// Nil for bytes that ``sealed(bytes:by:)`` does not produce.
    static func box(ofSealedBytes stored: UnsafeRawBufferPointer) -> (number: Int32, box: [UInt8])? {
        guard stored.count > byteHead, stored.starts(with: byteMark) else { return nil }
        let number = Int32(bigEndian: stored.loadUnaligned(fromByteOffset: byteMark.count, as: Int32.self))
        return (number, [UInt8](stored.dropFirst(byteHead)))
    }
}
