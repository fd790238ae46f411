import NIOCore
import RelayCore

/// Writes JSON straight into the bytes that go out.
struct JSONWriter {
    private(set) var buffer: ByteBuffer
    private var needsComma = false

    init(capacity: Int) {
        buffer = ByteBufferAllocator().buffer(capacity: capacity)
    }

    mutating func beginObject(_ name: StaticString? = nil) { open(UInt8(ascii: "{"), name) }
    mutating func beginArray(_ name: StaticString? = nil) { open(UInt8(ascii: "["), name) }
    mutating func endObject() { close(UInt8(ascii: "}")) }
    mutating func endArray() { close(UInt8(ascii: "]")) }

    mutating func field(_ name: StaticString, _ text: String?) {
        write(name: name)
        if let text { write(text) } else { buffer.writeStaticString("null") }
    }

    mutating func field<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
        field(name, identifier?.text)
    }

    mutating func field(_ name: StaticString, _ flag: Bool?) {
        write(name: name)
        switch flag {
        case true?: buffer.writeStaticString("true")
        case false?: buffer.writeStaticString("false")
        case nil: buffer.writeStaticString("null")
        }
    }

    mutating func field(_ name: StaticString, _ number: Int?) {
        write(name: name)
        if let number { buffer.writeString(String(number)) } else { buffer.writeStaticString("null") }
    }

    mutating func field(_ name: StaticString, _ moment: Timestamp?) {
        write(name: name)
        guard let moment else {
            buffer.writeStaticString("null")
            return
        }
        buffer.writeInteger(UInt8(ascii: "\""))
        buffer.writeString(moment.rfc3339)
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    /// - Parameter json: what is JSON already.
    mutating func field(_ name: StaticString, json: String?) {
        write(name: name)
        buffer.writeString(json ?? "null")
    }

    /// A text in an array.
    mutating func element(_ text: String) {
        separate()
        write(text)
    }

    mutating func element<Kind>(_ identifier: Identifier<Kind>) {
        element(identifier.text)
    }

    private mutating func open(_ bracket: UInt8, _ name: StaticString?) {
        if let name { write(name: name) } else { separate() }
        buffer.writeInteger(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        buffer.writeInteger(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { buffer.writeInteger(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func write(name: StaticString) {
        separate()
        buffer.writeInteger(UInt8(ascii: "\""))
        buffer.writeStaticString(name)
        buffer.writeStaticString("\":")
    }

    private mutating func write(_ text: String) {
        buffer.writeInteger(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var run = 0
            for (index, byte) in utf8.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(utf8)[run..<index]))
                escape(byte)
                run = index + 1
            }
            buffer.writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(utf8)[run...]))
        }
        buffer.writeInteger(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): buffer.writeStaticString("\\\"")
        case UInt8(ascii: "\\"): buffer.writeStaticString("\\\\")
        case 0x0a: buffer.writeStaticString("\\n")
        case 0x0d: buffer.writeStaticString("\\r")
        case 0x09: buffer.writeStaticString("\\t")
        default:
            buffer.writeStaticString("\\u00")
            buffer.writeString(byte < 0x10 ? "0" : "1")
            buffer.writeString(String(byte & 0xf, radix: 16))
        }
    }
}
