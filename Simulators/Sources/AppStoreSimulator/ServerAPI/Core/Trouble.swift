import AppStoreSimulation
import Foundation

/// What befalls calls, whoever makes them, as `PUT /_simulator/trouble` says it.
struct Trouble: Sendable, Decodable {
    var status: Int?
    var errorCode: Int?
    var retryAfterMilliseconds: Int64?
    var hang: Bool?
    var reset: Bool?
    /// How many calls it befalls still; nil for all.
    var times: Int?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case status, errorCode, retryAfterMilliseconds, hang, reset, times
    }

    init(json: Data) throws(JSONFault) {
        self = try SimulatedJSON.decode(from: json, fields: CodingKeys.allCases.map(\.rawValue))
        let kinds = [status != nil, hang == true, reset == true].filter { $0 }.count
        guard kinds == 1 else { throw JSONFault("trouble is one of status, hang and reset") }
        guard (400...599).contains(status ?? 500) else { throw JSONFault("status is 400 to 599") }
        guard status != nil || errorCode == nil && retryAfterMilliseconds == nil else {
            throw JSONFault("errorCode and retryAfterMilliseconds go with a status")
        }
        guard (1_000_000...9_999_999).contains(errorCode ?? 5_000_000) else {
            throw JSONFault("errorCode has 7 digits")
        }
        guard (0...86_400_000).contains(retryAfterMilliseconds ?? 0) else {
            throw JSONFault("retryAfterMilliseconds is 0 to 86400000")
        }
        guard (1...1_000_000).contains(times ?? 1) else { throw JSONFault("times is 1 to 1000000") }
    }

    func verdict(at now: Date) -> Verdict {
        guard let status else { return hang == true ? .hang : .reset }
        var reply = answer(status)
        if let wait = retryAfterMilliseconds ?? (status == APIFault.rateLimit.status ? 1_000 : nil) {
            // Neither seconds nor a date, unlike everybody else's.
            reply.retryAfter = String(now.millisecondsSince1970 + wait)
        }
        return .answer(reply)
    }

    private func answer(_ status: Int) -> Reply {
        if let errorCode { return APIFault(status: status, code: errorCode, message: "Simulated.").reply }
        let usual = [APIFault.rateLimit, .internalError].first { $0.status == status }
        return usual?.reply ?? Reply(status: status)
    }
}
