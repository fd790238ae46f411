import Foundation

extension RelayAnswer {
    /// - Throws: ``RelayError`` with ``RelayError/Code/notUnderstood``.
    func validation() throws -> Told {
        do {
            return Told(validation: try JSONDecoder().decode(Validation.self, from: body), retryAfter: retryAfter)
        } catch {
            throw RelayError(
                .notUnderstood, "the answer is not the relay's", httpStatus: status, requestID: header("X-Request-Id"))
        }
    }

    /// Whole seconds, up to a day; the form with a date is not heeded, for the device's clock may be wrong.
    var retryAfter: Duration? {
        guard let seconds = header("Retry-After").flatMap({ Int($0) }), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }
}
