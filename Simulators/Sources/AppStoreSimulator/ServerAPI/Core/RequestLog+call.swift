import AppStoreSimulation
import Foundation

extension RequestLog {
    static let longestText = 4_096

    mutating func add(_ call: APICall, authorized: Bool, verdict: Verdict, at now: Date) {
        func shown(_ text: String) -> String {
            let token = call.authorization.flatMap(TokenJudge.token) ?? call.authorization ?? ""
            // Wherever a client puts it; a short one is no token, and may be part of any text.
            return String(
                (token.utf8.count < 16 ? text : text.replacing(token, with: "[token]")).prefix(Self.longestText))
        }
        let (outcome, status): (String, Int?) =
            switch verdict {
            case .answer(let reply): ("answered", reply.status)
            case .hang: ("hung", nil)
            case .reset: ("reset", nil)
            }
        let body = call.body.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
        add(
            Entry(
                sequence: nextSequence, at: now.millisecondsSince1970, method: call.method, path: shown(call.path),
                query: call.query.map(shown), body: body.map(shown), authorized: authorized, outcome: outcome,
                status: status))
    }
}
