import Foundation

/// What befalls calls, whoever makes them, as `PUT /control/trouble` says it.
struct Trouble: Sendable, Decodable {
    /// The route that it befalls; nil for all.
    var on: String?
    var status: Int?
    /// As it is to stand in the header.
    var retryAfter: String?
    /// In place of the answer's body, such as what is no JSON.
    var body: String?
    var delayMilliseconds: Int64?
    var hang: Bool?
    var reset: Bool?
    /// How many calls it befalls still; nil for all.
    var times: Int?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case on, status, retryAfter, body, delayMilliseconds, hang, reset, times
    }

    static func read(_ call: StoreCall, routes: [String]) throws(ControlFault) -> Trouble {
        let trouble: Trouble = try ControlBody.decode(from: call, fields: CodingKeys.allCases.map(\.rawValue))
        if let on = trouble.on, !routes.contains(on) {
            throw .invalid("on is one of \(routes.joined(separator: ", "))")
        }
        guard (200...599).contains(trouble.status ?? 500) else { throw .invalid("status is 200 to 599") }
        guard (0...600_000).contains(trouble.delayMilliseconds ?? 0) else {
            throw .invalid("delayMilliseconds is 0 to 600000")
        }
        guard (1...1_000_000).contains(trouble.times ?? 1) else { throw .invalid("times is 1 to 1000000") }
        guard (trouble.retryAfter ?? "").utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalid("retryAfter is what a header can hold")
        }
        return trouble
    }

    /// - Parameter reply: what would be answered without it.
    func verdict(_ reply: Reply) -> Verdict {
        let ending: Verdict.Ending
        if hang == true {
            ending = .hang
        } else if reset == true {
            ending = .reset
        } else {
            var reply = status == nil ? reply : Reply(status: status ?? reply.status)
            if let body { reply.body = Data(body.utf8) }
            reply.retryAfter = retryAfter
            ending = .answer(reply)
        }
        return Verdict(delayMilliseconds: delayMilliseconds ?? 0, ending: ending)
    }
}
