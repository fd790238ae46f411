import HTTPTypes
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Unsigned pushes of Roku")
struct UnsignedRokuPushTests {
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let unsigned = Array(#"{"transactionType":"Sale","transactionId":"1"}"#.utf8)

    @Test("a limited number of unsigned ones is accepted, and the next may be repeated later")
    func unsignedOnesAreLimited() async throws {
        let source = RokuNotifications(
            keys: try await SigningKeys(jwks: nil), unsigned: .signal,
            limit: RateLimit(rate: 0.01, burst: 2))
        for _ in 0..<2 { try await source.verify(Self.unsigned, now: Self.now) }
        let problem = await #expect(throws: Problem.self) {
            try await source.verify(Self.unsigned, now: Self.now)
        }
        #expect(problem?.code == .rateLimited)
        #expect(problem?.headers[.retryAfter] == "100")
        // A push with an invalid signature is refused.
        await #expect(throws: NotificationRefusal.self) {
            try await source.verify(Array("a.b.c".utf8), now: Self.now)
        }
    }

    @Test("unsigned ones are refused if the settings say so, however few")
    func unsignedOnesAreRefused() async throws {
        let source = RokuNotifications(keys: try await SigningKeys(jwks: nil), unsigned: .refuse)
        let refusal = await #expect(throws: NotificationRefusal.self) {
            try await source.verify(Self.unsigned, now: Self.now)
        }
        #expect(refusal?.code == "unsigned")
    }
}
