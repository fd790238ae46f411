import Formats
import NIOCore

extension JSONWriter {
    /// The body of a request to Cleeng: one object with the members that `write` adds.
    ///
    /// Control characters, such as the line breaks of a receipt, are escaped by number. Cleeng has always received them
    /// so.
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
