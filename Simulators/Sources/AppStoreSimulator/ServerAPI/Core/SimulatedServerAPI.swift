import AppStoreSimulation
import Foundation

/// The App Store Server API, without HTTP and without a clock: what it knows, what befalls it, and what it answers.
struct SimulatedServerAPI: Sendable {
    let settings: ServerSettings
    var shelf = SubscriptionShelf()
    var history = NotificationHistory()
    var trouble: Trouble?
    var log: RequestLog

    init(settings: ServerSettings) {
        self.settings = settings
        log = RequestLog(capacity: settings.keepRequests)
    }

    mutating func begin(_ call: APICall, at now: Date) -> Verdict {
        let judgement = settings.judge.judge(call.authorization, at: now)
        let verdict = takeTrouble()?.verdict(at: now) ?? .answer(reply(to: call, judgement, at: now))
        log.add(call, authorized: judgement == .good, verdict: verdict, at: now)
        return verdict
    }

    /// What befalls a call, which is one call less for it.
    private mutating func takeTrouble() -> Trouble? {
        guard let taken = trouble else { return nil }
        if let times = taken.times { trouble?.times = times - 1 }
        if taken.times == 1 { trouble = nil }
        return taken
    }

    private func reply(to call: APICall, _ judgement: TokenJudge.Judgement, at now: Date) -> Reply {
        if judgement == .bad { return Reply(status: 401) }
        do {
            if judgement == .otherApp { throw APIFault.notFound }
            switch APIRoute(call.segments) {
            case .subscriptions(let transactionId):
                return call.method == "GET"
                    ? try subscriptions(of: transactionId, call, at: now) : .notAllowed("GET")
            case .history:
                return call.method == "POST" ? try page(for: call, at: now) : .notAllowed("POST")
            case nil: return Reply(status: 404)
            }
        } catch let fault as APIFault {
            return fault.reply
        } catch {
            return APIFault.internalError.reply
        }
    }
}

/// The addresses of the API.
enum APIRoute {
    case subscriptions(String)
    case history

    init?(_ segments: [String]) {
        guard segments.starts(with: ["inApps", "v1"]), segments.count == 4 else { return nil }
        switch (segments[2], segments[3]) {
        case ("subscriptions", let transactionId): self = .subscriptions(transactionId)
        case ("notifications", "history"): self = .history
        default: return nil
        }
    }
}

extension Reply {
    static func notAllowed(_ methods: String...) -> Reply {
        var reply = Reply(status: 405)
        reply.allow = methods.joined(separator: ", ")
        return reply
    }
}
