import Foundation

extension RelayClient {
    func request(_ method: String, _ url: URL) -> RelayRequest {
        RelayRequest(
            method: method, url: url, headers: ["Authorization": "Bearer \(key)", "Accept": "application/json"])
    }

    func validation(_ request: RelayRequest) async throws -> PolledValidation {
        try await call(request).validation()
    }

    /// Sends one request and returns a successful answer.
    ///
    /// - Throws: ``RelayError``; `CancellationError` if the task was cancelled.
    func call(_ request: RelayRequest) async throws -> RelayAnswer {
        var request = request
        if let customerToken {
            do {
                request.headers["X-Customer-Token"] = try await customerToken()
            } catch {
                try Task.checkCancellation()
                // Nothing was sent. Refreshing a token needs the network too, so its failure is temporary, like one of
                // the relay's.
                if error is URLError { throw RelayError(.unreachable, "there is no customer token: \(error)") }
                throw RelayError(.noCustomerToken, "there is no customer token: \(error)")
            }
        }
        let answer: RelayAnswer
        do {
            answer = try await transport.send(request)
        } catch {
            // The transport reports a cancelled request with its own error.
            try Task.checkCancellation()
            throw RelayError(noAnswer: error)
        }
        guard (200..<300).contains(answer.status) else { throw RelayError(answer) }
        return answer
    }
}

extension RelayAnswer {
    /// - Throws: ``RelayError`` with ``RelayError/Code/notUnderstood``.
    func validation() throws -> PolledValidation {
        PolledValidation(validation: try read(RelayClient.Validation.self), retryAfter: retryAfter)
    }

    /// - Throws: like ``validation()``.
    func validations() throws -> [RelayClient.Validation] {
        struct List: Decodable { var entitlements: [RelayClient.Validation] }
        return try read(List.self).entitlements
    }

    private func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw RelayError(
                .notUnderstood, "the answer is not the relay's", httpStatus: status, requestID: header("X-Request-Id"))
        }
    }

    /// Whole seconds, up to a day. The form with a date is ignored, because the device's clock may be wrong.
    var retryAfter: Duration? {
        guard let seconds = header("Retry-After").flatMap({ Int($0) }), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }
}

/// A validation, with the time to wait before the next poll.
struct PolledValidation: Sendable {
    var validation: RelayClient.Validation
    var retryAfter: Duration?
}
