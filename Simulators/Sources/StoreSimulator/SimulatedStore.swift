import Foundation
import SimulatorKit

/// A store without HTTP and clock: its data and its answers.
protocol SimulatedStore: Sendable {
    /// Routes that can be given trouble.
    static var routes: [String] { get }

    /// Route of a call; nil for an unknown address.
    func route(_ call: Call) -> String?

    mutating func answer(_ call: Call, at now: Date) -> StoreOutcome

    /// Executes a control call, under `/control/`.
    ///
    /// - Parameter segments: the parts of the path after `control`.
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply
}

/// An answer, and the logged data of the call.
struct StoreOutcome: Sendable {
    var reply: Reply
    /// `good`, `bad`, or `absent`.
    var credentials: String
    /// The path without secrets.
    var shownPath: String
}

/// A simulated store with its log and trouble.
struct StoreFront<Store: SimulatedStore>: SimulatedState {
    static var bodyLimit: Int { 65_536 }
    static var controlPrefix: String { "control" }

    var store: Store
    private var trouble = Counted<TroubleOrder>()
    private var log: RequestLog<LoggedStoreCall>

    init(_ store: Store, keepRequests: Int) {
        self.store = store
        log = RequestLog(capacity: keepRequests)
    }

    mutating func begin(_ call: Call, at now: Date) -> Verdict<Void> {
        let order = trouble.next(on: store.route(call))
        let outcome: StoreOutcome
        if order?.trouble?.takesEffect ?? true {
            outcome = store.answer(call, at: now)
        } else {
            // The log needs the credentials and the path, but the call must have no effect. So it runs on a copy.
            var copy = store
            outcome = copy.answer(call, at: now)
        }
        var ending = Ending(order?.trouble, at: now) {
            Reply(status: $0)
        } answer: {
            outcome.reply
        }
        if case .answer(var reply) = ending, let order {
            if let body = order.body { reply.body = Data(body.utf8) }
            // An answer with a status already has the header.
            ending = .answer(order.status == nil ? reply.with(header: "Retry-After", order.retryAfter) : reply)
        }
        let (logged, status) = ending.outcome
        log.add { sequence in
            LoggedStoreCall(
                sequence: sequence, at: now.wholeMilliseconds, method: call.method,
                path: String(outcome.shownPath.prefix(4_096)), credentials: outcome.credentials, outcome: logged,
                status: status)
        }
        return Verdict((), delayMilliseconds: order?.delayMilliseconds ?? 0, ending)
    }

    mutating func control(_ call: Call, at now: Date) throws(ControlFault) -> Reply {
        let segments = Array(call.segments.dropFirst())
        switch (segments.first, segments.count, call.method) {
        case ("trouble", 1, "PUT"): trouble = Counted(try Self.order(call))
        case ("trouble", 1, "DELETE"): trouble = Counted()
        case ("trouble", 1, _): return .notAllowed("PUT", "DELETE")
        case ("requests", 1, "GET"):
            var page = log.page { $0 }
            page.totalItemCount = nil
            return Reply(json: page)
        case ("requests", 1, "DELETE"): log.removeAll()
        case ("requests", 1, _): return .notAllowed("GET", "DELETE")
        default: return try store.control(segments, call, at: now)
        }
        return Reply(status: 204)
    }

    private static func order(_ call: Call) throws(ControlFault) -> TroubleOrder {
        let order = try TroubleOrder.read(
            try call.objectText, [.on, .status, .retryAfter, .body, .delayMilliseconds, .hang, .reset, .times],
            statuses: 200...599)
        if let on = order.on, !Store.routes.contains(on) {
            throw .invalid("on is one of \(Store.routes.joined(separator: ", "))")
        }
        return order
    }
}

/// One call of the log. Holds no secret, no token and no assertion.
struct LoggedStoreCall: Sendable, Encodable {
    let sequence: Int
    /// In milliseconds since 1970.
    let at: Int64
    let method: String
    let path: String
    /// `good`, `bad`, or `absent`.
    let credentials: String
    let outcome: CallOutcome
    /// nil if it was not answered.
    let status: Int?
}

extension Call {
    /// The body of a control call. An empty body counts as an empty object.
    var objectText: Data {
        get throws(ControlFault) {
            guard let body else { throw .tooLarge }
            return body.isEmpty ? Data("{}".utf8) : body
        }
    }

    /// - Parameter fields: all known names.
    func object<Value: Decodable>(_ fields: [String]) throws(ControlFault) -> Value {
        try JSONBody.decode(from: objectText, fields: fields, dates: .text)
    }
}

extension ControlFault {
    static let noSuchPurchase = ControlFault.notFound("there is no such purchase")
    static let full = ControlFault.conflict("there are 10000 purchases already")
}
