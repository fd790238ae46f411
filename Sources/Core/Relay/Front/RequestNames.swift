package import HTTPServer
import HTTPTypes
package import RelayCore

extension RequestSubject {
    package static func validation(_ id: ValidationID) -> RequestSubject { RequestSubject("validation", id) }
}

// Unwrapping is safe: a name is refused only for characters outside of RFC 9110's token, and these are literals.
extension HTTPField.Name {
    static let xCustomerToken = HTTPField.Name("X-Customer-Token")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
