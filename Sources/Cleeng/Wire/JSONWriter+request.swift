import Formats
import NIOCore

extension JSONWriter {
    /// The body of a request to Cleeng: one object with the members that `write` adds.
    ///
    /// Cleeng has always been sent control characters by number, such as the line breaks of a receipt.
    static func body(capacity: Int = 512, _ write: (inout JSONWriter) -> Void) -> ByteBuffer {
        var writer = JSONWriter(capacity: capacity, escapes: .numbers)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return ByteBuffer(bytes: writer.bytes)
    }

    /// An object with the members that `write` adds.
    mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        beginObject(name)
        write(&self)
        endObject()
    }
}
