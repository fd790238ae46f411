import AppStoreSimulation
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import AppleStore

/// Certificates that are valid now, and a responder that knows them. No HTTP.
private struct RevocationScene {
    static let now = Date()
    static let validity = now - 86_400...now + 86_400
    /// Made once, since RSA keys are slow to make.
    private static let receipts = TrustFixture.make(.receipts) { $0.validity = RevocationScene.validity }

    let authority: StoreAuthority
    let trust: ChainOfTrust
    var responder: OCSPResponder
    let paths = NIOLockedValueBox<[String]>([])

    init(
        _ purpose: StoreAuthority.Purpose = .transactions, _ change: (inout StoreAuthority.Form) -> Void = { _ in }
    ) throws {
        authority =
            switch purpose {
            case .receipts: try Self.receipts.get()
            case .transactions:
                try TrustFixture.make(.transactions) {
                    $0.validity = Self.validity
                    change(&$0)
                }.get()
            }
        trust = try TrustFixture.trust(authority)
        responder = try OCSPResponder([authority])
    }

    var serialNumbers: [String] { get throws { try OCSPResponder.serialNumbers(of: authority) } }

    /// Verifies a signed object.
    ///
    /// - Parameters:
    ///   - date: time of the signature.
    ///   - change: change of the object before it is verified.
    func verify(
        at date: Date = RevocationScene.now, by trust: ChainOfTrust? = nil, _ change: (String) -> String = { $0 }
    ) async throws {
        let milliseconds = Int(date.timeIntervalSince1970 * 1_000)
        let text = try authority.sign(json: Data(#"{"transactionId":"2","signedDate":\#(milliseconds)}"#.utf8))
        let transaction = try SignedTransaction(CompactJWS(change(text)))
        _ = try await transaction.jws.verify(trust ?? self.trust, signedDate: transaction.payload.signedDate)
    }

    func verifyReceipt() async throws {
        let receipt = try authority.sign(TrustFixture.receipt(creationDate: Self.now))
        _ = try await SignedReceipt(berEncoded: receipt).verify(trust)
    }

    /// Status of each certificate with a recent signature.
    func statuses() async -> [RevocationCheck.Status] {
        await statuses { [responder] in responder.reply(to: $0, at: Date()) }
    }

    func statuses(_ answer: @escaping @Sendable ([UInt8]) throws -> [UInt8]) async -> [RevocationCheck.Status] {
        let check = RevocationCheck { [paths] request, path in
            paths.withLockedValue { $0.append(path) }
            return try answer(request)
        }
        var found: [RevocationCheck.Status] = []
        for certificate in trust.recentChains.flatMap({ $0.certificates(validAt: Date()) }) {
            found.append(await check.status(of: certificate))
        }
        return found
    }
}

@Suite("Whether certificates that signed were revoked")
struct RevocationTests {
    @Test func nothingIsLookedUpBeforeASignatureWasVerified() async throws {
        let scene = try RevocationScene()
        #expect(scene.trust.recentChains.isEmpty)
        await #expect(throws: NotGenuine.self) { try await RevocationScene().verify(by: scene.trust) }
        await #expect(throws: NotGenuine.self) {
            try await scene.verify { $0.split(separator: ".").prefix(2).joined(separator: ".") + ".AAAA" }
        }
        #expect(scene.trust.recentChains.isEmpty)
    }

    @Test func aChainIsThereOnceWithItsNames() async throws {
        let scene = try RevocationScene()
        for _ in 0..<3 { try await scene.verify() }
        let chain = try #require(scene.trust.recentChains.first)
        #expect(scene.trust.recentChains.count == 1 && !chain.isApples)
        let certificates = chain.certificates(validAt: Date())
        #expect(certificates.map(\.subject) == ["CN=Test Signing", "CN=Test Authority"])
        #expect(
            try certificates.map { String($0.serialNumber.lowercased().drop { $0 == "0" }) }
                == Array(scene.serialNumbers.prefix(2)))
    }

    @Test(arguments: [StoreAuthority.Purpose.transactions, .receipts])
    func good(purpose: StoreAuthority.Purpose) async throws {
        let scene = try RevocationScene(purpose)
        if purpose == .receipts { try await scene.verifyReceipt() } else { try await scene.verify() }
        #expect(await scene.statuses() == [.good, .good])
        #expect(scene.paths.withLockedValue { $0 } == ["/ocsp03-simulatedwwdr", "/ocsp03-simulatedroot"])
    }

    /// Responders with prepared answers do not repeat a nonce.
    @Test func goodWithoutANonce() async throws {
        let scene = try RevocationScene()
        try await scene.verify()
        let statement = try scene.responder.statement(about: scene.authority, at: Date())
        #expect(await scene.statuses { _ in statement }.first == .good)
    }

    @Test(arguments: [StoreAuthority.Purpose.transactions, .receipts])
    func revoked(purpose: StoreAuthority.Purpose) async throws {
        var scene = try RevocationScene(purpose)
        if purpose == .receipts { try await scene.verifyReceipt() } else { try await scene.verify() }
        scene.responder.revoke("leaf")
        #expect(await scene.statuses() == [.revoked, .good])
        scene.responder.restore("leaf")
        scene.responder.revoke(try scene.serialNumbers[1])
        #expect(await scene.statuses() == [.good, .revoked])
    }

    @Test(
        arguments: [
            (OCSPResponder.Answer.unknown, "status unknown"), (.tryLater, "tryLater"),
            (.stranger, "signature is not valid"),
            (.stale, "nextUpdate"), (.garbage, "deserialisation failed"),
        ] as [(OCSPResponder.Answer, String)])
    func neitherIsProven(answer: OCSPResponder.Answer, reason: String) async throws {
        var scene = try RevocationScene()
        try await scene.verify()
        scene.responder.answer = answer
        scene.responder.revoke("leaf")
        for status in await scene.statuses() {
            guard case .unknown(let why) = status else {
                Issue.record("\(status)")
                continue
            }
            #expect(why.contains(reason) && why.count <= 200)
        }
    }

    /// A replayed answer has another nonce.
    @Test func anAnswerToAnotherRequestProvesNothing() async throws {
        let scene = try RevocationScene()
        try await scene.verify()
        let first = NIOLockedValueBox<[UInt8]?>(nil)
        let statuses = await scene.statuses { [responder = scene.responder] request in
            first.withLockedValue { first in
                let answer = first ?? responder.reply(to: request, at: Date())
                first = answer
                return answer
            }
        }
        #expect(statuses.first == .good)
        #expect(statuses.last != .good && statuses.last != .revoked)
        for status in await scene.statuses({ _ in first.withLockedValue { $0 } ?? [] }) {
            #expect(status != .good && status != .revoked)
        }
    }

    @Test func aMissingAnswerProvesNothing() async throws {
        struct Away: Error, CustomStringConvertible { let description = "connection_failed" }
        let scene = try RevocationScene()
        try await scene.verify()
        #expect(
            await scene.statuses { _ in throw Away() } == [
                .unknown("connection_failed"), .unknown("connection_failed"),
            ])
        #expect(scene.paths.withLockedValue { $0.count } == 2, "once each")
    }

    /// The first answer has no proof, and the second request gets no answer.
    @Test func anAnswerThatStopsProvesNothing() async throws {
        struct Away: Error {}
        var scene = try RevocationScene()
        try await scene.verify()
        scene.responder.answer = .tryLater
        let count = NIOLockedValueBox(0)
        let statuses = await scene.statuses { [responder = scene.responder] request in
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            guard number.isMultiple(of: 2) else { return responder.reply(to: request, at: Date()) }
            throw Away()
        }
        #expect(statuses.count == 2 && !statuses.contains(.good) && !statuses.contains(.revoked))
    }

    @Test(
        arguments: [
            ("http://ocsp.example.com", "its OCSP responder is not at ocsp.apple.com"),
            ("http://ocsp.apple.com.example.com", "its OCSP responder is not at ocsp.apple.com"),
            ("http://ocsp.apple.com@127.0.0.1", "its OCSP responder is not at ocsp.apple.com"),
            ("http://ocsp.apple.com:8080", "its OCSP responder is not at ocsp.apple.com"),
            ("ldap://ocsp.apple.com", "its OCSP responder is not at ocsp.apple.com"),
            (nil, "it names no OCSP responder"),
        ] as [(String?, String)])
    func nobodyElseIsAsked(responder: String?, reason: String) async throws {
        let scene = try RevocationScene { $0.responder = responder }
        try await scene.verify()
        #expect(await scene.statuses() == [.unknown(reason), .unknown(reason)])
        #expect(scene.paths.withLockedValue { $0.isEmpty })
    }

    @Test(arguments: ["https://ocsp.apple.com", "HTTP://OCSP.Apple.com"])
    func otherWaysToWriteApplesHost(responder: String) async throws {
        let scene = try RevocationScene { $0.responder = responder }
        try await scene.verify()
        #expect(await scene.statuses() == [.good, .good])
    }

    /// The responder need not know an expired certificate.
    @Test func whatHasExpiredIsNotLookedUp() async throws {
        let start = Date() - 172_800
        let scene = try RevocationScene { $0.validity = start...start + 3_600 }
        try await scene.verify(at: start + 60)
        #expect(scene.trust.recentChains.count == 1)
        #expect(await scene.statuses() == [.good], "the authority")
        #expect(scene.paths.withLockedValue { $0 } == ["/ocsp03-simulatedroot"])
    }
}
