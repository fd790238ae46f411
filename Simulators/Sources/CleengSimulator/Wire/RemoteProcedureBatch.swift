/// The body of a JSON-RPC request: one call, or up to a hundred.
struct RemoteProcedureBatch: Sendable {
    static let limit = 100

    let calls: [RemoteProcedureCall]
    /// A batch is answered with an array.
    let isBatch: Bool
    let publisherToken: String
    /// Set where the body is no JSON, or no call at all.
    let fault: RemoteProcedureFault?

    init(_ body: JSONValue?, publisherToken: String) {
        self.publisherToken = publisherToken
        switch body {
        case nil:
            (calls, isBatch, fault) = ([], false, .parseError)
        case .array(let elements) where (1...Self.limit).contains(elements.count):
            (calls, isBatch, fault) = (elements.map(RemoteProcedureCall.init), true, nil)
        case .object(let fields):
            (calls, isBatch, fault) = ([RemoteProcedureCall(.object(fields))], false, nil)
        default:
            (calls, isBatch, fault) = ([], false, .invalidRequest)
        }
    }

    /// Whether one of the calls reads entitlements.
    var readsEntitlements: Bool { calls.contains { $0.readsEntitlements } }
}
