/// Writes BER encodings of receipts, valid and invalid, independently by X.690.
struct BERWriter {
    enum Form: CaseIterable, Sendable {
        /// Definite lengths, as the App Store writes.
        case definite
        /// Indefinite lengths wherever they are allowed, and long strings in pieces, as Xcode writes.
        case indefinite
    }

    let form: Form

    func element(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
        if form == .indefinite, identifier & 0x20 != 0 { return [identifier, 0x80] + contents + [0, 0] }
        return Self.definite(identifier, contents)
    }

    static func definite(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
        if contents.count < 0x80 { return [identifier, UInt8(contents.count)] + contents }
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [identifier, 0x80 | UInt8(length.count)] + length + contents
    }

    func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, Array(parts.joined())) }
    func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, Array(parts.joined())) }
    func context(_ number: UInt8, _ contents: [UInt8]) -> [UInt8] { element(0xA0 | number, contents) }

    func octets(_ contents: [UInt8]) -> [UInt8] {
        guard form == .indefinite, contents.count > 50 else { return Self.definite(0x04, contents) }
        let pieces = stride(from: 0, to: contents.count, by: 37).map {
            Self.definite(0x04, Array(contents[$0..<min($0 + 37, contents.count)]))
        }
        return element(0x24, Array(pieces.joined()))
    }

    static func integer(_ value: Int64) -> [UInt8] {
        var octets = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while octets.count > 1, octets[0] == 0 && octets[1] < 0x80 || octets[0] == 0xFF && octets[1] >= 0x80 {
            octets.removeFirst()
        }
        return definite(0x02, octets)
    }

    static func utf8(_ text: String) -> [UInt8] { definite(0x0C, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { definite(0x16, Array(text.utf8)) }
}
