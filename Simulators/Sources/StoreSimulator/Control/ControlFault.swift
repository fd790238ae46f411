/// A control call that cannot be carried out. Carries a text for the person who sent it.
struct ControlFault: Error, Equatable {
    let status: Int
    let message: String

    static func invalid(_ message: String) -> ControlFault { ControlFault(status: 400, message: message) }
    static let notFound = ControlFault(status: 404, message: "nothing has this address")
    static let noSuchPurchase = ControlFault(status: 404, message: "there is no such purchase")
    static let full = ControlFault(status: 409, message: "there are 10000 purchases already")

    var reply: Reply { Reply(status: status, json: ["message": message]) }
}
