import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import SimulatorKit

/// The simulated Cleeng behind one lock, with its clock. Calls are parsed outside the lock.
final class Simulator: SimulatedService {
    let publisherToken: String
    private let clock: SimulatorClock
    private let identity: ReceiptIdentity
    private let cleeng: NIOLockedValueBox<SimulatedCleeng>

    init(
        settings: SimulatorSettings, publisherToken: String, clock: SimulatorClock = .system(),
        identity: ReceiptIdentity
    ) {
        self.publisherToken = publisherToken
        self.clock = clock
        self.identity = identity
        cleeng = NIOLockedValueBox(SimulatedCleeng(settings: settings))
    }

    let bodyLimit = 8 * 1_024 * 1_024

    func isControl(_ segments: [String]) -> Bool { segments.first == "_simulator" || segments == ["healthz"] }

    func now() -> Date { clock.now().date }

    func control(_ call: Call) -> Reply {
        do throws(ControlFault) {
            return try carryOut(call)
        } catch {
            let reply = Reply(
                status: error.status,
                json: AnyJSON.object(["success": .bool(false), "message": .string(error.message)]))
            return error.allowed.isEmpty
                ? reply : reply.with(header: "Allow", error.allowed.joined(separator: ", "))
        }
    }

    func carryOut(_ call: Call) throws(ControlFault) -> Reply {
        let call = try ControlCall(call)
        let result: Result<Reply, ControlFault> = advanced { cleeng in
            do throws(ControlFault) {
                return .success(try cleeng.control(call))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    func begin(_ call: Call) -> Verdict<CallTicket> {
        let parsed = CleengCall(call, publisherToken: publisherToken, identity: identity)
        return advanced { $0.begin(parsed) }
    }

    func end(_ verdict: Verdict<CallTicket>, outcome: CallOutcome, status: Int?) {
        cleeng.withLockedValue { $0.end(verdict.ticket, outcome: outcome, status: status, at: clock.now()) }
    }

    /// Takes the next event that is due for sending, after everything due has been processed.
    func nextWebhook() -> WebhookEvent? { advanced { $0.takeWebhook() } }

    /// Current address for an event; nil if it is no longer to be sent.
    func target(of event: WebhookEvent) -> WebhookTarget? { cleeng.withLockedValue { $0.target(of: event) } }

    func delivered(_ event: WebhookEvent, attempts: Int, status: Int?) {
        cleeng.withLockedValue { cleeng in
            cleeng.note(WebhookDelivery(event: event, attempts: attempts, status: status, endedAt: clock.now()))
        }
    }

    private func advanced<Value>(_ body: (inout SimulatedCleeng) -> Value) -> Value {
        cleeng.withLockedValue { cleeng in
            // The time is read under the lock, so that it is never earlier than another request's.
            cleeng.advance(to: clock.now())
            return body(&cleeng)
        }
    }
}
