/// An error inside a JSON-RPC answer; the HTTP status is 200 all the same.
///
/// 1 to 16 are Cleeng's own codes, negative ones those of JSON-RPC 2.0.
struct RemoteProcedureFault: Error, Equatable, Sendable {
    let code: Int64
    let message: String

    static let customerToken = RemoteProcedureFault(code: 1, message: "Customer token is empty or invalid")
    static let publisherToken = RemoteProcedureFault(code: 3, message: "Publisher token is empty or invalid")
    static let unknownOffer = RemoteProcedureFault(code: 4, message: "Offer does not exist")
    static let unknownCustomer = RemoteProcedureFault(
        code: 10, message: "Customer email is unknown or not a customer of this publisher")
    static let addressLimit = RemoteProcedureFault(code: 14, message: "IP address limit exceeded")
    static let parseError = RemoteProcedureFault(code: -32_700, message: "Parse error")
    static let invalidRequest = RemoteProcedureFault(code: -32_600, message: "Invalid request")

    static func invalidArgument(_ name: String) -> RemoteProcedureFault {
        RemoteProcedureFault(code: 11, message: "Invalid arguments: \(name)")
    }

    static func unknownMethod(_ name: String) -> RemoteProcedureFault {
        RemoteProcedureFault(code: -32_601, message: "Method not found: \(name.prefix(60))")
    }

    var json: JSONValue { .object(["code": .int(code), "message": .string(message)]) }
}
