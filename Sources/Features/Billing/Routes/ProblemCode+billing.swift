import HTTPServer
import Hummingbird

extension ProblemCode {
    static let alreadyOrdered = ProblemCode("already_ordered", .conflict, "The subscription has a contract")
    static let unsupportedGrant = ProblemCode("unsupported_grant", .badRequest, "The grant type is not supported")
}
