/// A request to the control API, taken apart.
struct ControlCall: Sendable {
    let method: String
    let route: ControlRoute
    let query: QueryItems
    /// nil for an empty body.
    let body: JSONValue?

    /// - Throws: where the body is no JSON object.
    init(method: String, route: ControlRoute, query: QueryItems, body: [UInt8]) throws(ControlFault) {
        self.method = method
        self.route = route
        self.query = query
        guard !body.isEmpty else {
            self.body = nil
            return
        }
        guard let json = JSONValue.parse(body), case .object = json else {
            throw .invalid("the body is no JSON object")
        }
        self.body = json
    }

    /// The list of behaviours in the body, which may also be one text with plus signs between.
    func behaviours() throws(ControlFault) -> [String] {
        switch body?["behaviours"] {
        case nil: return []
        case .string(let text): return text.split(separator: "+").map(String.init)
        case .array(let elements):
            let names = elements.compactMap(\.string)
            guard names.count == elements.count else { throw .invalid("behaviours is a list of texts") }
            return names
        default: throw .invalid("behaviours is a list of texts")
        }
    }

    /// The field `expiresAt` of the body, in seconds since 1970.
    func expiresAt() throws(ControlFault) -> Moment? {
        guard let value = body?["expiresAt"] else { return nil }
        guard let seconds = value.integer, (0...4_102_444_800).contains(seconds) else {
            throw .invalid("expiresAt is in seconds since 1970")
        }
        return Moment(unixSeconds: seconds)
    }

    /// - Throws: for fields beyond the named ones, which would be a slip of the pen.
    func allowOnly(_ names: String...) throws(ControlFault) {
        guard case .object(let fields) = body else { return }
        if let unknown = fields.keys.sorted().first(where: { !names.contains($0) }) {
            throw .invalid("unknown field \"\(unknown.prefix(60))\"; known: \(names.joined(separator: ", "))")
        }
    }
}
