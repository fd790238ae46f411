import Foundation

extension RelayClient {
    /// Posts a purchase. When this returns, the relay has it in its database, and it reaches the billing system
    /// whatever happens to the app: now the store's transaction may be finished.
    ///
    /// Passing trouble is met with further tries of the same request, for about a minute. The same purchase posted
    /// again is the same validation while that is pending or granted; one that failed starts anew.
    ///
    /// - Parameters:
    ///   - purchase: with the receipt or the signed transaction that the store gave the app.
    ///   - idempotencyKey: the name of this request over all tries. Keep one beside the purchase where it may
    ///     be posted again hours later: for 24 hours it finds the validation that it first made, even one that has
    ///     failed.
    /// - Returns: the validation, most often pending; settled where a repeat finds it so.
    /// - Throws: ``RelayError``, whose ``RelayError/mayHaveBeenTaken`` says whether the relay may have the purchase all
    ///   the same; `CancellationError`, after which it may have it too.
    public func submit(_ purchase: Purchase, idempotencyKey: UUID = UUID()) async throws -> Validation {
        var request = request("POST", baseURL.appending(path: purchase.path))
        request.headers["Content-Type"] = "application/json"
        request.headers["Idempotency-Key"] = "\"\(idempotencyKey.uuidString.lowercased())\""
        // Written once: a key that comes with other bytes is refused.
        request.body = try purchase.body()
        var posting = Posting(at: time.now())
        while true {
            do {
                return try await validation(request).validation
            } catch let error as RelayError {
                switch posting.failed(error, at: time.now()) {
                case .pause(let duration): try await time.sleep(duration)
                case .fail(let error): throw error
                }
            }
        }
    }

    /// Posts a purchase and waits for its outcome: about as long as the relay allows for one, a minute, and half a
    /// minute more where connections are lost.
    ///
    /// When this returns, whatever the outcome, the relay has the purchase.
    ///
    /// - Parameters:
    ///   - purchase: as ``submit(_:idempotencyKey:)`` takes it, like the key.
    ///   - idempotencyKey: the name of this request over all tries.
    ///   - onState: is given each state, the first one as soon as the relay has the purchase: the moment to keep its
    ///     ``RelayClient/Validation/id`` and to finish the store's transaction.
    /// - Throws: as ``submit(_:idempotencyKey:)``; and ``RelayError`` where the relay does not return the outcome of the
    ///   purchase, such as for a key that was revoked meanwhile.
    public func redeem(
        _ purchase: Purchase, idempotencyKey: UUID = UUID(), onState: (Validation) async -> Void = { _ in }
    ) async throws -> Outcome {
        let taken = try await submit(purchase, idempotencyKey: idempotencyKey)
        do {
            for try await state in states(of: taken) {
                await onState(state)
                if let outcome = state.outcome { return outcome }
            }
        } catch var error as RelayError where error.code != .noOutcome {
            error.mayHaveBeenTaken = true
            throw error
        } catch is RelayError {
            // Nobody said, for longer than the relay may take: that counts as a failure, until the app looks again.
        }
        return .assumeFailed
    }
}
