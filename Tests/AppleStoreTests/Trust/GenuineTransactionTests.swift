import AppStoreSimulation
import Foundation
import Testing

@testable import AppleStore

@Suite("Whether a signed transaction is genuine")
struct GenuineTransactionTests {
    private let authority: StoreAuthority
    private let trust: ChainOfTrust

    init() throws {
        authority = try TrustFixture.transactions.get()
        trust = try TrustFixture.trust(authority)
    }

    private func verify(_ text: String, _ trust: ChainOfTrust? = nil) async -> NotGenuine.Code? {
        await flaw {
            let transaction = try SignedTransaction(CompactJWS(text))
            return try await transaction.jws.verify(trust ?? self.trust, signedDate: transaction.payload.signedDate)
        }
    }

    @Test func oneThatIsSigned() async throws {
        #expect(await verify(try authority.sign(json: TrustFixture.transaction())) == nil)
        #expect(await verify(try authority.sign(json: TrustFixture.transaction(#","new":[1]"#))) == nil)
    }

    @Test func nobodyElsesRootWillDo() async throws {
        let text = try authority.sign(json: TrustFixture.transaction())
        #expect(await verify(text, ChainOfTrust(.appleOnly)) == .untrustedRoot)
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", ""]) func noOtherAlgorithm(algorithm: String) async throws {
        #expect(await verify(try authority.sign(json: TrustFixture.transaction(), algorithm: algorithm)) == .algorithm)
    }

    @Test func anotherPayloadUnderTheSignature() async throws {
        let good = try authority.sign(json: TrustFixture.transaction()).split(separator: ".")
        let other = try authority.sign(json: TrustFixture.transaction(#","price":1"#)).split(separator: ".")
        #expect(await verify("\(good[0]).\(other[1]).\(good[2])") == .signature)
        #expect(await verify("\(good[0]).\(good[1]).") == .unsigned)
        #expect(await verify("\(good[0]).\(good[1]).AAAA") == .signature)
    }

    @Test func exactlyThreeCertificatesInOrder() async throws {
        let certificates = authority.certificates
        for x5c in [
            Array(certificates.prefix(2)), certificates + [certificates[2]],
            [certificates[0], certificates[2], certificates[1]], [certificates[1], certificates[0], certificates[2]],
        ] {
            let text = try authority.sign(json: TrustFixture.transaction(), certificates: x5c)
            #expect(await verify(text) != nil, "\(x5c.count)")
        }
    }

    @Test func withoutADateItsCertificatesCannotBeJudged() async throws {
        #expect(await verify(try authority.sign(json: Data(#"{"transactionId":"1"}"#.utf8))) == .noDate)
    }

    @Test func theMomentOfSigningCounts() async throws {
        let late = Int(TrustFixture.validity.upperBound.timeIntervalSince1970 * 1_000) + 1_000
        let text = try authority.sign(json: Data(#"{"transactionId":"1","signedDate":\#(late)}"#.utf8))
        #expect(await verify(text) == .chain)
    }

    /// Times outside the range of certificates' dates.
    @Test func timesOutsideTheCalendarAreRefused() async throws {
        for (moment, flaw) in [
            ("253402300799999", NotGenuine.Code.chain), ("253402300799499", .chain), ("253402300799500", .chain),
            ("0", .noDate), ("-62135596800000", .noDate), ("4102444800000", .chain),
        ] {
            let text = try authority.sign(json: Data(#"{"transactionId":"1","signedDate":\#(moment)}"#.utf8))
            #expect(await verify(text) == flaw, "\(moment)")
        }
    }

    /// The signing key of a developer's machine was added as a root, so that its transactions are accepted. A holder of
    /// that key can make an authority below it that imitates Apple's, and a signer below that.
    @Test func aDevelopersKeyIsNoRoot() async throws {
        let forgery = try Forger.belowADevelopersKey()
        let trust = ChainOfTrust(try TrustedRoots(adding: [forgery.root]))
        let text = try forgery.sign(json: TrustFixture.transaction())
        #expect(await verify(text, trust) == .untrustedRoot)
    }
}
