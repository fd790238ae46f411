/// One JSON-RPC call.
struct RemoteProcedureCall: Sendable {
    /// Always text in the answer, also where it was sent as a number.
    let id: JSONValue
    let method: String?
    let params: JSONValue

    init(_ value: JSONValue) {
        id =
            switch value["id"] {
            case .string(let text): .string(String(text.prefix(200)))
            case .int(let number): .string(String(number))
            case .double(let number): .string("\(number)")
            default: .null
            }
        method = value["method"]?.string
        params = value["params"] ?? .object([:])
    }

    var readsEntitlements: Bool { method == "getAccessStatus" || method == "getAccessibleTags" }
}
