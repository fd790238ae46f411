import AppStoreSimulation
import Foundation
import Testing

@testable import CleengSimulator

/// What the simulator itself reads in receipts.
@Suite struct ReceiptEntryTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private static func authority(_ purpose: StoreAuthority.Purpose) throws -> StoreAuthority {
        try StoreAuthority(
            purpose, name: "Test", form: StoreAuthority.Form(validity: start - 86_400...start + 86_400))
    }

    private static func purchase(
        _ id: String, of original: String, days: Double?, cancelled: Bool = false
    ) -> SimulatedReceipt.Purchase {
        SimulatedReceipt.Purchase(
            productId: "gold", transactionId: id, originalTransactionId: original, purchaseDate: start,
            originalPurchaseDate: start, expiresDate: days.map { start + $0 * 86_400 },
            cancellationDate: cancelled ? start : nil)
    }

    private static func receipt(_ purchases: [SimulatedReceipt.Purchase]) throws -> [UInt8] {
        try authority(.receipts).sign(
            SimulatedReceipt(
                environment: "Production", bundleId: "com.example.app", creationDate: start, purchases: purchases))
    }

    @Test func ofAnAppReceiptTheNamedPurchaseCountsElseTheOneThatRunsLongest() throws {
        let bytes = try Self.receipt([
            Self.purchase("11", of: "10", days: 30), Self.purchase("21", of: "20", days: 60),
            Self.purchase("31", of: "30", days: 90, cancelled: true), Self.purchase("41", of: "40", days: nil),
        ])
        let text = Data(bytes).base64EncodedString()
        for (transaction, original) in [("11", "10"), ("31", "30"), ("40", "40"), ("41", "40"), ("99", "20")] {
            #expect(ReceiptIdentity.appleStore.read(text, transaction) == original, "\(transaction)")
        }
        let entry = try #require(ReceiptEntry.read(text).first { $0.transactionId == "31" })
        #expect(entry.isCancelled)
        #expect(entry.purchasedAt == SimulatedTime(unixSeconds: 1_800_000_000))
        #expect(entry.expiresAt == SimulatedTime(unixSeconds: 1_800_000_000 + 90 * 86_400))
    }

    @Test func base64OfAnyFormIsTaken() throws {
        let data = Data(try Self.receipt([Self.purchase("11", of: "10", days: 30)]))
        let plain = data.base64EncodedString()
        let forms = [
            plain, data.base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn]),
            plain.replacing("+", with: "-").replacing("/", with: "_"), plain.replacing("=", with: ""),
        ]
        for text in forms { #expect(ReceiptIdentity.appleStore.read(text, "99") == "10") }
    }

    /// As Apple's servers write it: lengths that are not said beforehand, octets in pieces.
    @Test func lengthsMayBeIndefinite() throws {
        let definite = try Self.receipt([Self.purchase("11", of: "10", days: 30)])
        let payload = try #require(Self.payload(definite))
        let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07]
        let end: [UInt8] = [0, 0]
        func piece(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            [0x04, 0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        }
        let octets = [0x24, 0x80] + piece(payload.prefix(100)) + piece(payload.dropFirst(100)) + end
        let content = [0x30, 0x80] + data + [0x01, 0xA0, 0x80] + octets + end + end
        let signed = [0x30, 0x80, 0x02, 0x01, 0x01, 0x31, 0x00] + content + [0x31, 0x00] + end
        let whole = [0x30, 0x80] + data + [0x02, 0xA0, 0x80] + signed + end + end
        #expect(ReceiptIdentity.appleStore.read(Data(whole).base64EncodedString(), "99") == "10")
    }

    /// The octets behind the identifier of plain data.
    private static func payload(_ receipt: [UInt8]) -> ArraySlice<UInt8>? {
        let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        guard let range = receipt.firstRange(of: identifier) else { return nil }
        let set = receipt[range.upperBound...].firstIndex(of: 0x31) ?? receipt.endIndex
        let length = receipt[set + 1] == 0x82 ? Int(receipt[set + 2]) << 8 | Int(receipt[set + 3]) + 4 : 0
        return receipt[set..<(set + length)]
    }

    @Test func ofASignedTransactionItsOwnNumbersCount() throws {
        let transaction = SimulatedTransaction(
            bundleId: "com.example.app", productId: "gold", transactionId: "11", originalTransactionId: "10",
            purchaseDate: Self.start, expiresDate: Self.start + 86_400)
        let text = try Self.authority(.transactions).sign(json: transaction.json(signedDate: Self.start))
        #expect(ReceiptIdentity.appleStore.read(text, "99") == "10")
        #expect(ReceiptEntry.read(text).first?.expiresAt == SimulatedTime(unixSeconds: 1_800_086_400))
    }

    @Test(arguments: ["", "TUlJ", "a.b.c", "e30.W10.e30", "e30.e30.e30", "MIIB", "😀", "MAA", "MAKgAA"])
    func whatCannotBeReadBelongsToNoSubscription(text: String) {
        #expect(ReceiptIdentity.appleStore.read(text, "11") == nil)
    }
}
