import Foundation

extension RelayClient {
    /// Posts a purchase. When this returns, the purchase is in the relay's database and will reach the billing system,
    /// whatever happens to the app. The app may then finish the store's transaction.
    ///
    /// Temporary failures are retried with the same request for about a minute. Posting the same purchase again yields
    /// the same validation while that is pending or granted. After a failed validation, it starts a new one.
    ///
    /// - Parameters:
    ///   - purchase: includes the receipt or the signed transaction from the store.
    ///   - idempotencyKey: identifies this request over all tries. To post it again hours later, use the same key with
    ///     the same bytes of the receipt or transaction, and a new key for other bytes. For 24 hours the key returns
    ///     the validation that it first created, even one that has failed.
    /// - Returns: the validation, usually pending; settled if a repeated purchase already is.
    /// - Throws: ``RelayError``, whose ``RelayError/mayHaveBeenTaken`` says whether the relay may still have the
    ///   purchase; `CancellationError`, after which it may have it too.
    public func submit(_ purchase: Purchase, idempotencyKey: UUID = UUID()) async throws -> Validation {
        var request = request("POST", baseURL.appending(path: purchase.path))
        request.headers["Content-Type"] = "application/json"
        request.headers["Idempotency-Key"] = "\"\(idempotencyKey.uuidString.lowercased())\""
        // Encoded once: the relay refuses a key that arrives with other bytes.
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

    /// Posts a purchase and waits for its outcome. Once the relay has the purchase, this takes a minute at most, and
    /// half a minute more if connections are lost.
    ///
    /// When this returns, whatever the outcome, the relay has the purchase.
    ///
    /// - Parameters:
    ///   - purchase: like for ``submit(_:idempotencyKey:)``.
    ///   - idempotencyKey: identifies this request over all tries.
    ///   - onState: called with each state, first as soon as the relay has the purchase. At that point, store its
    ///     ``RelayClient/Validation/id`` and finish the store's transaction.
    /// - Throws: like ``submit(_:idempotencyKey:)``; and ``RelayError`` if the relay does not return the outcome, such
    ///   as after the key was revoked.
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
            // No final state within the relay's limit counts as a failure until the app asks again.
        }
        return .assumeFailed
    }
}
