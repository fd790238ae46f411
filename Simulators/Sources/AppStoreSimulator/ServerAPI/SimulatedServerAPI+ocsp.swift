import AppStoreSimulation
import Foundation
import SimulatorKit

/// `POST /ocsp03-…`: Apple's OCSP responder, which needs no token. Trouble for other calls does not affect it.
extension SimulatedServerAPI {
    static func isOCSP(_ call: Call) -> Bool { call.segments.count == 1 && call.segments[0].hasPrefix("ocsp03-") }

    mutating func beginOCSP(_ call: Call, at now: Date) -> Verdict<Void> {
        let ending = Ending(nil, at: now) {
            Reply(status: $0)
        } answer: {
            ocsp(call, at: now)
        }
        log.add { LoggedAPICall($0, call, authorized: true, ending.outcome, at: now) }
        return Verdict((), ending)
    }

    private func ocsp(_ call: Call, at now: Date) -> Reply {
        guard call.method == "POST" else { return .notAllowed("POST") }
        guard let body = call.body else { return Reply(status: 413) }
        guard call.contentType?.lowercased() == "application/ocsp-request" else {
            return Reply(status: 415)
        }
        var reply = Reply(status: 200, body: Data(responder.reply(to: Array(body), at: now)))
        reply.contentType = "application/ocsp-response"
        return reply
    }

    /// `leaf`, or a serial number in hexadecimal digits.
    private static func check(revocable name: String) throws(ControlFault) {
        guard name == "leaf" || name.wholeMatch(of: /[0-9A-Fa-f]{1,40}/) != nil else {
            throw .invalid("a revoked certificate is leaf, or a serial number in 1 to 40 hexadecimal digits")
        }
    }

    mutating func revoke(_ name: String) throws(ControlFault) {
        try Self.check(revocable: name)
        responder.revoke(name)
    }

    mutating func restore(_ name: String) throws(ControlFault) {
        try Self.check(revocable: name)
        guard responder.restore(name) else { throw .notFound("there is no such revoked certificate") }
    }

    /// `{"answer":"tryLater"}`.
    static func answer(_ body: Data) throws(ControlFault) -> OCSPResponder.Answer {
        let fields: [String: String] = try JSONBody.decode(from: body)
        guard let answer = fields["answer"].flatMap(OCSPResponder.Answer.init(rawValue:)), fields.count == 1 else {
            let names = OCSPResponder.Answer.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("answer is one of \(names)")
        }
        return answer
    }
}
