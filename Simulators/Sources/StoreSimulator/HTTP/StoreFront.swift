import Foundation
import NIOConcurrencyHelpers

/// A simulated store behind its one lock, with the clock that dates what it says.
final class StoreFront<Store: SimulatedStore>: Sendable {
    private struct State {
        var store: Store
        var trouble: Trouble?
        var log: RequestLog
    }

    private let state: NIOLockedValueBox<State>
    private let now: @Sendable () -> Date

    init(_ store: Store, keepRequests: Int, now: @escaping @Sendable () -> Date = { Date() }) {
        state = NIOLockedValueBox(State(store: store, log: RequestLog(capacity: keepRequests)))
        self.now = now
    }

    func begin(_ call: StoreCall) -> Verdict {
        let now = now()
        return state.withLockedValue { state in
            let trouble = Self.take(&state.trouble, state.store.route(call))
            let outcome = state.store.answer(call, at: now)
            let verdict = trouble?.verdict(outcome.reply) ?? Verdict(ending: .answer(outcome.reply))
            let (ending, status): (String, Int?) =
                switch verdict.ending {
                case .answer(let reply): ("answered", reply.status)
                case .hang: ("hung", nil)
                case .reset: ("reset", nil)
                }
            state.log.add(
                RequestLog.Entry(
                    at: Moment.milliseconds(now), method: call.method, path: String(outcome.shownPath.prefix(4_096)),
                    credentials: outcome.credentials, outcome: ending, status: status))
            return verdict
        }
    }

    /// What befalls a call, which is one call less for it.
    private static func take(_ trouble: inout Trouble?, _ route: String?) -> Trouble? {
        guard let taken = trouble, taken.on == nil || taken.on == route else { return nil }
        if let times = taken.times { trouble?.times = times - 1 }
        if taken.times == 1 { trouble = nil }
        return taken
    }

    func control(_ call: StoreCall) -> Reply {
        let now = now()
        return state.withLockedValue { state in
            do throws(ControlFault) {
                return try Self.carryOut(call, &state, at: now)
            } catch {
                return error.reply
            }
        }
    }

    private static func carryOut(_ call: StoreCall, _ state: inout State, at now: Date) throws(ControlFault) -> Reply {
        let segments = Array(call.segments.dropFirst())
        switch (segments.first, segments.count, call.method) {
        case ("trouble", 1, "PUT"): state.trouble = try Trouble.read(call, routes: Store.routes)
        case ("trouble", 1, "DELETE"): state.trouble = nil
        case ("trouble", 1, _): return .notAllowed("PUT", "DELETE")
        case ("requests", 1, "GET"): return Reply(json: state.log.page)
        case ("requests", 1, "DELETE"): state.log.removeAll()
        case ("requests", 1, _): return .notAllowed("GET", "DELETE")
        default: return try state.store.control(segments, call, at: now)
        }
        return Reply(status: 204)
    }
}
