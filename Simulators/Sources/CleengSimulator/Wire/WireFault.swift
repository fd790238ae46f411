import SimulatorKit

/// A refused call, in the form of Cleeng's errors.
struct WireFault: Error, Equatable, Sendable {
    /// HTTP status.
    let status: Int
    /// Cleeng's error code, or one that starts with `SIM` if a behaviour requested the refusal.
    let code: String
    let message: String
    /// Names of the invalid fields.
    var fields: [String] = []

    /// Token errors have the codes that Cleeng documents for the endpoint's JWT variant.
    static let tokenMissing = WireFault(status: 401, code: "AUTH0001", message: "X-Publisher-Token is missing")
    static let tokenInvalid = WireFault(status: 401, code: "AUTH0002", message: "X-Publisher-Token is invalid")
    static let bodyTooLarge = WireFault(status: 413, code: "SIM0413", message: "The body is larger than 8 MB")
    static let notFound = WireFault(status: 404, code: "SIM0404", message: "No such resource")

    /// Error 400 as documented for Cleeng's similar endpoints.
    static func invalidBody(_ message: String, fields: [String] = []) -> WireFault {
        WireFault(status: 400, code: "REQ0001", message: message, fields: fields)
    }

    static func invalidQuery(_ message: String, fields: [String] = []) -> WireFault {
        WireFault(status: 400, code: "REQ0002", message: message, fields: fields)
    }

    /// A refusal requested by a behaviour.
    static func simulated(_ status: Int) -> WireFault {
        let code = "SIM0\(status)"
        return switch status {
        case 400: WireFault(status: status, code: code, message: "The receipt was refused")
        case 401: .tokenInvalid
        case 403: WireFault(status: status, code: code, message: "Access denied")
        case 404: WireFault(status: status, code: code, message: "Not found")
        case 422: WireFault(status: status, code: code, message: "The purchase cannot be processed")
        case 429: WireFault(status: status, code: code, message: "Too many requests")
        case 500: WireFault(status: status, code: code, message: "Internal error")
        case 503: WireFault(status: status, code: code, message: "Service unavailable")
        default: WireFault(status: status, code: code, message: "Simulated status \(status)")
        }
    }
}

extension Reply {
    init(_ fault: WireFault) {
        var fields: [String: AnyJSON] = [
            "success": .bool(false), "data": .null, "code": .string(fault.code), "message": .string(fault.message),
        ]
        if !fault.fields.isEmpty { fields["fields"] = .array(fault.fields.map(AnyJSON.string)) }
        self.init(status: fault.status, json: AnyJSON.object(fields))
    }
}
