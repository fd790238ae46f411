/// Writes JSON without white space, in the order of the calls.
///
/// For a nil value, `field` writes null; `member` writes neither name nor value.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false
    private let escapes: JSONEscapes

    public init(capacity: Int = 256, escapes: JSONEscapes = .letters) {
        self.escapes = escapes
        bytes.reserveCapacity(capacity)
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Structure

    public mutating func beginObject(_ name: StaticString? = nil) { open(UInt8(ascii: "{"), name) }
    public mutating func beginArray(_ name: StaticString? = nil) { open(UInt8(ascii: "["), name) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the name of the next value.
    public mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(name)
        bytes.append("\":")
        needsComma = false
    }

    public mutating func name(_ name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    public mutating func value(_ text: String) {
        separate()
        bytes.appendJSON(text, escapes)
    }

    /// - Parameter utf8: text in UTF-8, unquoted.
    public mutating func value(utf8: UnsafeBufferPointer<UInt8>) {
        separate()
        bytes.appendJSON(utf8: utf8, escapes)
    }

    public mutating func value(_ number: Int) { value(json: String(number).utf8) }

    public mutating func value(_ flag: Bool) { literal(flag ? "true" : "false") }

    /// Writes the time as ``RFC3339`` does.
    public mutating func value(millisecondsSince1970 moment: Int64) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        RFC3339.append(millisecondsSince1970: moment, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// - Parameter json: valid JSON, copied as it is.
    public mutating func value(json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    public mutating func null() { literal("null") }

    // MARK: Names with values

    public mutating func field(_ name: StaticString, _ text: String?) {
        self.name(name)
        if let text { value(text) } else { null() }
    }

    public mutating func field(_ name: StaticString, _ flag: Bool?) {
        self.name(name)
        if let flag { value(flag) } else { null() }
    }

    public mutating func field(_ name: StaticString, _ number: Int?) {
        self.name(name)
        if let number { value(number) } else { null() }
    }

    /// - Parameter json: valid JSON, copied as it is.
    public mutating func field(_ name: StaticString, json: String?) {
        self.name(name)
        value(json: (json ?? "null").utf8)
    }

    public mutating func member(_ name: StaticString, _ text: String?) {
        if text != nil { field(name, text) }
    }

    public mutating func member(_ name: StaticString, _ flag: Bool?) {
        if flag != nil { field(name, flag) }
    }

    public mutating func member(_ name: StaticString, _ number: Int?) {
        if number != nil { field(name, number) }
    }

    // MARK: Bytes

    private mutating func open(_ bracket: UInt8, _ name: StaticString?) {
        if let name { self.name(name) }
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func literal(_ text: StaticString) {
        separate()
        bytes.append(text)
    }
}
