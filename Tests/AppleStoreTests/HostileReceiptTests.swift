import RelayCore
import TestRun
import TestSupport
import Testing

@testable import AppleStore

@Suite("Hostile bytes are refused, in time and without a crash")
struct HostileReceiptTests {
    static func receipt(_ form: BERWriter.Form) -> [UInt8] {
        var builder = ReceiptBuilder(form)
        builder.add(AppReceiptTests.subscription())
        builder.add(AppReceiptTests.subscription(id: "300", original: "300"))
        return builder.bytes
    }

    static func error(_ bytes: [UInt8]) -> ReceiptReadError? {
        readError { _ = try PurchaseReader.read(.binary(bytes), transactionId: "200") }
    }

    @Test("cut after any byte", arguments: BERWriter.Form.allCases)
    func truncated(form: BERWriter.Form) {
        let bytes = Self.receipt(form)
        #expect(Self.error(bytes) == nil)
        for length in 0..<bytes.count {
            #expect(Self.error(Array(bytes[..<length])) == .notPKCS7, "cut after \(length) bytes")
        }
    }

    @Test("followed by anything", arguments: BERWriter.Form.allCases)
    func trailing(form: BERWriter.Form) {
        for tail: [UInt8] in [[0], [0, 0], [0x30, 0], Self.receipt(form)] {
            #expect(Self.error(Self.receipt(form) + tail) == .notPKCS7)
        }
    }

    @Test("with random changes, reading stays within bounds", arguments: BERWriter.Form.allCases)
    func flipped(form: BERWriter.Form) {
        var generator = SeededGenerator(seed: form == .definite ? 3 : 4)
        let good = Self.receipt(form)
        var outcomes: Set<String> = []
        for _ in 0..<4_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            do {
                let read = try PurchaseReader.read(.binary(bytes), transactionId: "200")
                outcomes.insert("read")
                for text in [
                    read.bundleId?.text, read.productId?.text, read.transactionId?.text,
                    read.originalTransactionId?.text,
                ] {
                    #expect(text.map { !$0.isEmpty && $0.utf8.count <= 255 && !$0.utf8.contains(0) } ?? true)
                }
            } catch {
                outcomes.insert("\(error)")
            }
        }
        #expect(outcomes.isSuperset(of: ["read", "notPKCS7", "malformedPayload"]))
    }

    @Test("nested without end", .timeLimit(.paced(minutes: 1)))
    func nested() {
        for opening: [UInt8] in [[0x30, 0x80], [0x24, 0x80], [0xA0, 0x80], [0x31, 0x80]] {
            let bomb = Array(repeatElement(opening, count: 60_000).joined())
            #expect(Self.error(bomb) == .notPKCS7)
            let closed = bomb + Array(repeating: 0, count: bomb.count)
            #expect(Self.error(closed) == .notPKCS7)
            #expect(Self.error(ReceiptBuilder().envelope(payload: closed)) == .malformedPayload)
        }
        var definite: [UInt8] = []
        for _ in 0..<2_000 { definite = BERWriter.definite(0x24, definite) }
        #expect(Self.error(ReceiptBuilder().envelope(payload: definite)) == .malformedPayload)
        let envelope = ReceiptBuilder(.indefinite).envelope(payload: [])
        var inside = envelope
        if let place = inside.firstRange(of: [0x04, 0x00]) { inside.replaceSubrange(place, with: definite) }
        #expect(inside.count > envelope.count)
        #expect(Self.error(inside) == .notPKCS7)
    }

    @Test(
        "lengths beyond all bytes",
        arguments: [
            [0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0xFF], [0x80],
        ] as [[UInt8]])
    func lengths(length: [UInt8]) {
        #expect(Self.error([0x30] + length + [0x05, 0x00]) == .notPKCS7)
        #expect(Self.error(ReceiptBuilder().envelope(payload: [0x31] + length + [1])) == .malformedPayload)
        var builder = ReceiptBuilder()
        builder.add(17, [0x31] + length)
        #expect(Self.error(builder.bytes) == .malformedPayload)
    }

    @Test("long garbage is refused at once", .timeLimit(.paced(minutes: 1)))
    func garbage() {
        let text = String(repeating: "QUJD", count: 2_500_000)
        #expect(readError { _ = try PurchaseReader.read(text, transactionId: "1") } == .tooLarge)
        let within = String(repeating: "MIIC", count: 500_000)
        #expect(readError { _ = try PurchaseReader.read(within, transactionId: "1") } == .notPKCS7)
        for text in ["", " \r\n"] {
            #expect(readError { _ = try PurchaseReader.read(text, transactionId: "1") } == .empty)
        }
        #expect(readError { _ = try PurchaseReader.read("NOT A RECEIPT!", transactionId: "1") } == .notBase64)
        #expect(readError { _ = try PurchaseReader.read("Tk9UIEEgUkVDRUlQVAo=", transactionId: "1") } == .notPKCS7)
    }

    @Test("as many purchases as allowed are read in linear time, one more is refused", .timeLimit(.paced(minutes: 1)))
    func counts() throws {
        var builder = ReceiptBuilder()
        for index in 0..<ReceiptLimits.inAppPurchases {
            builder.add(17, BERWriter.definite(0x31, builder.attribute(1703, BERWriter.utf8("\(index + 1)"))))
        }
        let read = try PurchaseReader.read(.binary(builder.bytes), transactionId: "1")
        #expect(read.transactionId == "10000" || read.transactionId == "1")
        builder.add(AppReceiptTests.subscription())
        #expect(Self.error(builder.bytes) == .tooLarge)
    }

    @Test("too many attributes, certificates or signers are refused")
    func otherCounts() {
        var builder = ReceiptBuilder()
        for _ in 0..<11_000 { builder.add(99, []) }
        #expect(Self.error(builder.bytes) == .tooLarge)

        var purchase = AppReceiptTests.subscription()
        for _ in 0..<128 { purchase.attributes.append((1799, [])) }
        var second = ReceiptBuilder()
        second.add(purchase)
        #expect(Self.error(second.bytes) == .tooLarge)

        let good = Self.receipt(.indefinite)
        let certificate: [UInt8] = [0x30, 0x03, 0x02, 0x01, 0x01]
        guard let place = good.firstRange(of: certificate) else {
            Issue.record("no certificate in the receipt that the test wrote")
            return
        }
        var crowded = good
        crowded.replaceSubrange(place, with: Array(repeatElement(certificate, count: 17).joined()))
        #expect(Self.error(crowded) == .tooLarge)
        crowded = good
        crowded.replaceSubrange(place, with: BERWriter.definite(0x30, Array(repeating: 0, count: 17 << 10)))
        #expect(Self.error(crowded) == .tooLarge)
    }

    @Test("a payload without its envelope, other content and other structures are refused")
    func otherStructures() throws {
        var builder = ReceiptBuilder()
        builder.add(AppReceiptTests.subscription())
        #expect(Self.error(builder.payload) == .notPKCS7)
        #expect(Self.error(builder.envelope(payload: [])) == .malformedPayload)
        #expect(Self.error(builder.envelope(payload: Array("text".utf8))) == .malformedPayload)
        #expect(
            Self.error(builder.envelope(payload: BERWriter.definite(0x31, [0x02, 0x01, 0x01]))) == .malformedPayload)
        #expect(Self.error(builder.envelope(payload: builder.payload + [0x05, 0x00])) == .malformedPayload)
        var other = builder.bytes
        let signedData = try #require(other.firstRange(of: [0xF7, 0x0D, 0x01, 0x07, 0x02] as [UInt8]))
        other[signedData.upperBound - 1] = 0x03
        #expect(Self.error(other) == .notPKCS7)
    }

    @Test("no error contains the receipt's contents")
    func silentErrors() {
        let errors: [ReceiptReadError] = [
            .empty, .tooLarge, .notBase64, .notPKCS7, .malformedPayload, .noInAppPurchase, .malformedTransactionReceipt,
            .malformedJWS, .appTransaction, .notATransaction,
        ]
        #expect(Set(errors.map { "\($0)" }).count == errors.count)
        for error in errors { #expect("\(error)".utf8.count <= 32) }
    }
}
