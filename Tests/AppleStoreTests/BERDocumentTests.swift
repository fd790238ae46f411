import SwiftASN1
import TestSupport
import Testing

@testable import AppleStore

@Suite("The BER reader agrees with swift-asn1")
struct BERDocumentTests {
    /// One line for each element, in order: depth, identifier, contents of primitives, whole encoding.
    private struct Line: Equatable {
        let depth: Int
        let identifier: UInt8
        let contents: [UInt8]?
        let encoded: [UInt8]
    }

    private static func lines(_ node: ASN1Node, _ depth: Int, into lines: inout [Line]) {
        let encoded = Array(node.encodedBytes)
        switch node.content {
        case .primitive(let contents):
            lines.append(Line(depth: depth, identifier: encoded[0], contents: Array(contents), encoded: encoded))
        case .constructed(let children):
            lines.append(Line(depth: depth, identifier: encoded[0], contents: nil, encoded: encoded))
            for child in children { Self.lines(child, depth + 1, into: &lines) }
        }
    }

    private static func lines(
        _ document: BERDocument, _ cursor: BERCursor, _ depth: Int, into lines: inout [Line]
    ) throws(BERError) {
        var cursor = cursor
        guard depth <= 50 else { throw .tooDeep }
        while let element = try document.next(&cursor) {
            let isConstructed = element.identifier & BERTag.constructedBit != 0
            let contents = isConstructed ? nil : Array(document.bytes[element.contents])
            lines.append(
                Line(
                    depth: depth, identifier: element.identifier, contents: contents,
                    encoded: Array(document.bytes[element.encoded])))
            if isConstructed { try Self.lines(document, element.children, depth + 1, into: &lines) }
        }
    }

    private static func theirs(_ bytes: [UInt8]) -> [Line]? {
        guard let root = try? BER.parse(bytes) else { return nil }
        var lines: [Line] = []
        Self.lines(root, 1, into: &lines)
        return lines
    }

    private static func ours(_ bytes: [UInt8]) -> [Line]? {
        let document = BERDocument(bytes: bytes)
        var lines: [Line] = []
        do {
            try Self.lines(document, document.root, 1, into: &lines)
        } catch {
            return nil
        }
        return lines.count(where: { $0.depth == 1 }) == 1 ? lines : nil
    }

    @Test("on whole receipts", arguments: BERWriter.Form.allCases)
    func receipts(form: BERWriter.Form) throws {
        let bytes = HostileReceiptTests.receipt(form)
        let ours = try #require(Self.ours(bytes))
        #expect(ours == Self.theirs(bytes))
        let payload = Array(try SignedReceipt(berEncoded: bytes).payload)
        let inner = try #require(Self.ours(payload))
        #expect(inner == Self.theirs(payload))
    }

    @Test("on changed bytes, accepted or refused", arguments: BERWriter.Form.allCases)
    func changed(form: BERWriter.Form) {
        var builder = ReceiptBuilder(form)
        builder.attributes.removeAll()
        builder.add(AppReceiptTests.subscription())
        let good = builder.payload
        var generator = SeededGenerator(seed: 5)
        var accepted = 0
        for _ in 0..<3_000 {
            var bytes = good
            bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
            let (ours, theirs) = (Self.ours(bytes), Self.theirs(bytes))
            accepted += theirs == nil ? 0 : 1
            #expect(ours == theirs, "\(bytes)")
        }
        #expect((500...2_990).contains(accepted))
    }

    @Test("on short random bytes")
    func random() {
        var generator = SeededGenerator(seed: 6)
        let alphabet: [UInt8] = [
            0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x1F, 0x24, 0x30, 0x30, 0x3F, 0x80, 0x80, 0x81, 0x82, 0xA0, 0xFF,
        ]
        var accepted = 0
        for _ in 0..<30_000 {
            let bytes = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            let (ours, theirs) = (Self.ours(bytes), Self.theirs(bytes))
            accepted += theirs == nil ? 0 : 1
            #expect(ours == theirs, "\(bytes)")
        }
        #expect(accepted > 100)
    }

    @Test(
        "integers",
        arguments: [
            Int64.min, Int64.min + 1, -65_536, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32_767, 32_768,
            1_000_000_030_274_249,
            Int64.max,
        ])
    func integers(value: Int64) throws {
        let document = BERDocument(bytes: BERWriter.integer(value))
        let element = try document.only(document.root, BERTag.integer)
        #expect(document.integer(element) == value)
        #expect(try Int64(berEncoded: document.bytes) == value)
    }
}
