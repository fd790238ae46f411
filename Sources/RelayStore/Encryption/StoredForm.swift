/// What stands in a private column. Which of the forms it is, the row's `sealed_by` says.
///
/// The marks are for copies of the version before, which have nothing else to go by: they read what this version writes, and compare
/// names with it, as long as both run. Once they are gone, a later version leaves the marks out.
enum StoredForm {
    /// Before a sealed text, in Base85.
    static let textMark = Array("sealed1:".utf8)
    /// Before a text that is not sealed and begins with ``marks``. Part of the form, whether or not the text would be taken for another.
    static let escape = Array("sealed0:".utf8)
    static let marks = Array("sealed".utf8)
    /// Before sealed bytes, followed by the number of their data key.
    static let byteMark: [UInt8] = [0] + Array("sealed".utf8)
    private static let byteHead = byteMark.count + 4

    static func plain(text: [UInt8]) -> [UInt8] { text.starts(with: marks) ? escape + text : text }

    static func text(ofPlain stored: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](stored.starts(with: escape) ? stored.dropFirst(escape.count) : stored[...])
    }

    static func sealed(text box: [UInt8]) -> [UInt8] { textMark + Base85.encode(box) }

    /// Nil for what ``sealed(text:)`` does not give.
    static func box(ofSealedText stored: UnsafeRawBufferPointer) -> [UInt8]? {
        stored.starts(with: textMark) ? Base85.decode(stored.dropFirst(textMark.count)) : nil
    }

    static func sealed(bytes box: [UInt8], by number: Int32) -> [UInt8] {
        byteMark + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } + box
    }

    /// Nil for what ``sealed(bytes:by:)`` does not give.
    static func box(ofSealedBytes stored: UnsafeRawBufferPointer) -> (number: Int32, box: [UInt8])? {
        guard stored.count > byteHead, stored.starts(with: byteMark) else { return nil }
        let number = Int32(bigEndian: stored.loadUnaligned(fromByteOffset: byteMark.count, as: Int32.self))
        return (number, [UInt8](stored.dropFirst(byteHead)))
    }
}
