import NIOCore

extension ByteBuffer {
    /// Writes a further field of an object; nothing where there is no value.
    mutating func writeJSON(field name: StaticString, _ value: String?) {
        guard let value else { return }
        writeStaticString(",\"")
        writeStaticString(name)
        writeStaticString("\":")
        writeJSON(value)
    }

    /// Writes a quoted JSON string.
    mutating func writeJSON(_ text: String) {
        writeJSON(ByteBuffer(string: text))
    }

    /// Writes UTF-8 text as a quoted JSON string. Text that needs no escape, as base64 never does, is copied as a whole.
    mutating func writeJSON(_ text: ByteBuffer) {
        writeInteger(UInt8(ascii: "\""))
        let view = text.readableBytesView
        var start = view.startIndex
        while let special = view[start...].firstIndex(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
            writeBytes(view[start..<special])
            writeEscape(view[special])
            start = special + 1
        }
        writeBytes(view[start...])
        writeInteger(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case 0x22: writeStaticString("\\\"")
        case 0x5C: writeStaticString("\\\\")
        default:
            let digits = String(byte, radix: 16)
            writeString(digits.count == 1 ? "\\u000\(digits)" : "\\u00\(digits)")
        }
    }
}
