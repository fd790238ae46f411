import Testing

@testable import RelayClient

@Suite("A purchase that could not be posted") struct PostingTests {
    private func posting() -> (Posting, ContinuousClock.Instant) {
        let now = ContinuousClock.now
        return (Posting(at: now, random: { 0 }), now)
    }

    @Test("temporary errors are retried, limited in number and time")
    func tries() {
        var (posting, now) = posting()
        let start = now
        var pauses: [Duration] = []
        for _ in 0..<20 {
            guard case .pause(let pause) = posting.failed(.refused, at: now) else { break }
            pauses.append(pause)
            now += pause
        }
        #expect(pauses == [0.5, 1, 2, 4, 8, 10, 10, 10, 10].map { .seconds($0) })
        #expect(now - start <= .seconds(60))
    }

    @Test("Retry-After is respected; beyond a minute the app must wait")
    func retryAfter() {
        var (posting, now) = posting()
        #expect(posting.failed(.unavailable(retryAfter: .seconds(7)), at: now) == .pause(.seconds(7)))
        guard case .fail(let error) = posting.failed(.unavailable(retryAfter: .seconds(61)), at: now) else {
            Issue.record("it waits")
            return
        }
        #expect(error.retryAfter == .seconds(61))
        #expect(error.isRetryable)
    }

    @Test("a device that was asleep during the first try has two more")
    func slept() {
        var (posting, now) = posting()
        for pause in [0.5, 1] {
            now += .seconds(180)
            #expect(posting.failed(.lost, at: now) == .pause(.seconds(pause)))
        }
        var last = RelayError.lost
        last.mayHaveBeenTaken = true
        #expect(posting.failed(.lost, at: now) == .fail(last))
    }

    @Test("what would not help is not tried", arguments: [400, 401, 403, 404, 413, 422])
    func hopeless(status: Int) {
        var (posting, now) = posting()
        let error = RelayError(.invalidFields, "no", httpStatus: status)
        #expect(posting.failed(error, at: now) == .fail(error))
        #expect(!error.mayHaveBeenTaken)
    }

    @Test(
        "the error shows whether the relay may have the purchase",
        arguments: [
            (RelayError.refused, false), (.lost, true), (.unavailable(), true),
            (RelayError(.overloaded, "", httpStatus: 503), false),
            (RelayError(.customerKeysUnavailable, "", httpStatus: 503), false),
            (RelayError(.notUnderstood, "", httpStatus: 502), true),
            (RelayError(.notUnderstood, "", httpStatus: 200), true),
            (RelayError(.notUnderstood, "", httpStatus: 429), false),
            (RelayError(.noCustomerToken, ""), false),
            (RelayError(.idempotencyKeyReused, "", httpStatus: 422), true),
        ] as [(RelayError, Bool)])
    func taken(error: RelayError, maybe: Bool) {
        var (posting, now) = posting()
        _ = posting.failed(error, at: now)
        // The first try may have succeeded, whatever the last one returns.
        let last = posting.failed(RelayError(.unknownKey, "", httpStatus: 401), at: now)
        guard case .fail(let error) = last else {
            Issue.record("\(last)")
            return
        }
        #expect(error.mayHaveBeenTaken == maybe)
    }
}
