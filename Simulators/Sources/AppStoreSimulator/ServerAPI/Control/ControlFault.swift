import AppStoreSimulation

/// A request to the control API that cannot be carried out. Carries a text for the person who sent it.
struct ControlFault: Error, Equatable {
    let status: Int
    let message: String

    static func invalid(_ message: String) -> ControlFault { ControlFault(status: 400, message: message) }
    static func invalid(_ fault: JSONFault) -> ControlFault { invalid(fault.description) }
    static func notFound(_ message: String) -> ControlFault { ControlFault(status: 404, message: message) }
    static func conflict(_ message: String) -> ControlFault { ControlFault(status: 409, message: message) }
    static let tooLarge = ControlFault(status: 413, message: "the body is too large")

    var reply: Reply { Reply(status: status, json: ["message": message]) }
}
