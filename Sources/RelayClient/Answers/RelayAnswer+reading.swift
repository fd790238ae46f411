import Foundation

extension RelayAnswer {
    /// - Throws: ``RelayError`` with ``RelayError/Code/notUnderstood``.
    func validation() throws -> Told { Told(validation: try read(Validation.self), retryAfter: retryAfter) }

    /// - Throws: as ``validation()``.
    func validations() throws -> [Validation] {
        struct List: Decodable { var entitlements: [Validation] }
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

    /// Whole seconds, up to a day; the form with a date is not heeded, for the device's clock may be wrong.
    var retryAfter: Duration? {
        guard let seconds = header("Retry-After").flatMap({ Int($0) }), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }
}
