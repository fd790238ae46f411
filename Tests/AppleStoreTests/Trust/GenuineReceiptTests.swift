import AppStoreSimulation
import Foundation
import TestRun
import Testing

@testable import AppleStore

@Suite("Whether a receipt is genuine")
struct GenuineReceiptTests {
    private let authority: StoreAuthority
    private let trust: ChainOfTrust

    init() throws {
        authority = try TrustFixture.receipts.get()
        trust = try TrustFixture.trust(authority)
    }

    private func verify(_ bytes: [UInt8], _ trust: ChainOfTrust? = nil) async -> NotGenuine.Code? {
        await flaw { try await SignedReceipt(berEncoded: bytes).verify(trust ?? self.trust) }
    }

    @Test(arguments: StoreAuthority.ReceiptDigest.allCases) func oneThatIsSigned(digest: StoreAuthority.ReceiptDigest)
        async throws
    {
        #expect(await verify(try authority.sign(TrustFixture.receipt(), digest: digest)) == nil)
    }

    @Test func nobodyElsesRootWillDo() async throws {
        let receipt = try authority.sign(TrustFixture.receipt())
        #expect(await verify(receipt, ChainOfTrust(.appleOnly)) == .untrustedRoot)
        let other = try TrustFixture.make(.receipts).get()
        #expect(await verify(receipt, try TrustFixture.trust(other)) == .untrustedRoot)
    }

    /// Changes one bit of the signed bytes or of the signature.
    @Test func oneBitIsEnough() async throws {
        let receipt = try authority.sign(TrustFixture.receipt())
        let product = try #require(receipt.firstRange(of: Array("com.example.month".utf8)))
        var tampered = receipt
        tampered[product.lowerBound] ^= 1
        #expect(await verify(tampered) == .signature)
        tampered = receipt
        tampered[tampered.count - 1] ^= 1
        #expect(await verify(tampered) == .signature)
        #expect(await verify(receipt) == nil)
    }

    @Test func itsCertificatesAreJudgedAtTheMomentOfSigning() async throws {
        let end = TrustFixture.validity.upperBound
        #expect(await verify(try authority.sign(TrustFixture.receipt(creationDate: end.addingTimeInterval(-1)))) == nil)
        #expect(
            await verify(try authority.sign(TrustFixture.receipt(creationDate: end.addingTimeInterval(1)))) == .chain)
        #expect(await verify(try authority.sign(TrustFixture.receipt(creationDate: nil))) == .noDate)
    }

    @Test func itsCertificatesHaveApplesMarks() async throws {
        for change: (inout StoreAuthority.Form) -> Void in [
            { $0.hasLeafMarker = false }, { $0.hasAuthorityMarker = false },
        ] {
            let authority = try TrustFixture.make(.receipts, change).get()
            let receipt = try authority.sign(TrustFixture.receipt())
            #expect(await verify(receipt, try TrustFixture.trust(authority)) == .purpose)
        }
    }

    /// A remembered result applies to no other time and to no other certificates.
    @Test func rememberedResultsChangeNothing() async throws {
        let late = TrustFixture.validity.upperBound.addingTimeInterval(1)
        for _ in 0..<3 {
            #expect(await verify(try authority.sign(TrustFixture.receipt())) == nil)
            #expect(await verify(try authority.sign(TrustFixture.receipt(creationDate: late))) == .chain)
        }
    }

    /// Times outside the range of certificates' dates.
    @Test func timesOutsideTheCalendarAreRefused() async throws {
        for seconds in [253_402_300_799, 4_102_444_800, 631_151_999, 0, -62_135_596_800] {
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(await verify(try authority.sign(TrustFixture.receipt(creationDate: date))) == .chain)
        }
    }

    @Test func unusedPartsMayHaveAnyValue() async throws {
        let own = authority.certificates
        for bag in [own + [[0x30, 0x03, 0x02, 0x01, 0x01]], own.reversed(), [own[1]] + own] {
            let receipt = try authority.sign(TrustFixture.receipt(), certificates: Array(bag))
            #expect(await verify(receipt) == nil)
        }
        for missing in 0..<3 {
            var bag = own
            bag.remove(at: missing)
            let receipt = try authority.sign(TrustFixture.receipt(), certificates: bag)
            #expect(await verify(receipt) != nil, "\(missing)")
        }
    }

    /// Certificates that sign each other, and a trusted root. A naive search for a path between them would not end.
    @Test(.timeLimit(.paced(minutes: 1)), arguments: [2, 14]) func aCrowdThatVouchesForItself(count: Int) async throws {
        let crowd = try Forger.crowd(count)
        let bag = [authority.certificates[0], authority.certificates[2]] + crowd
        let receipt = try authority.sign(TrustFixture.receipt(), certificates: bag)
        #expect(await verify(receipt) == (count > 6 ? .certificates : .chain))
    }
}
