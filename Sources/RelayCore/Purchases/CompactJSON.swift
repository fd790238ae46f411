/// Writes JSON without a space into bytes. Members that are nil are left out.
public struct CompactJSON: Sendable {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    public init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    public mutating func begin(_ bracket: StaticString = "{") {
        separate()
        append(bracket)
        needsComma = false
    }

    public mutating func end(_ bracket: StaticString = "}") {
        append(bracket)
        needsComma = true
    }

    public mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        append(name)
        append("\":")
        needsComma = false
    }

    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        value(text)
    }

    public mutating func member<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
        member(name, identifier?.text)
    }

    public mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        self.name(name)
        append(flag ? "true" : "false")
        needsComma = true
    }

    public mutating func member(_ name: StaticString, _ number: Int?) {
        guard let number else { return }
        self.name(name)
        value(number)
    }

    /// To the second: `2026-01-02T03:04:05.000Z`.
    public mutating func member(_ name: StaticString, _ moment: Timestamp?) {
        guard let moment else { return }
        member(name, moment.wholeSeconds.rfc3339)
    }

    public mutating func value(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    public mutating func value(_ number: Int) {
        separate()
        bytes.append(contentsOf: String(number).utf8)
        needsComma = true
    }

    /// - Parameter json: what is JSON already.
    public mutating func value(json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func quote(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            for byte in utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    bytes.append(UInt8(ascii: "\\"))
                    bytes.append(byte)
                case 0x08: append("\\b")
                case 0x0c: append("\\f")
                case 0x0a: append("\\n")
                case 0x0d: append("\\r")
                case 0x09: append("\\t")
                case ..<0x20:
                    append("\\u00")
                    bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                    bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 0xf)])
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
