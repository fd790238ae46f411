@testable import CleengSimulator
@testable import SimulatorKit

/// What became of a request, in a form that reads well in expectations.
struct Outcome {
    let verdict: Verdict<CallTicket>

    init(_ verdict: Verdict<CallTicket>) {
        self.verdict = verdict
    }

    var reply: Reply? {
        if case .answer(let reply) = verdict.ending { reply } else { nil }
    }

    var status: Int? { reply?.status }
    var json: AnyJSON? { reply?.body.flatMap { AnyJSON.parse($0) } }

    func header(_ name: String) -> String? {
        reply?.headers.first { $0.name == name }?.value
    }

    /// `200`, `429 Retry-After 1`, `hang`, `reset`, `lost answer`, with ` after N ms` behind it where it was slow.
    var text: String {
        let ending =
            switch verdict.ending {
            case .answer(let reply):
                "\(reply.status)" + (header("Retry-After").map { " Retry-After \($0)" } ?? "")
            case .hang: "hang"
            case .reset(processed: true): "lost answer"
            case .reset(processed: false): "reset"
            }
        return verdict.delayMilliseconds > 0 ? "\(ending) after \(verdict.delayMilliseconds) ms" : ending
    }

    var logged: CallOutcome { verdict.ending.outcome.outcome }
}
