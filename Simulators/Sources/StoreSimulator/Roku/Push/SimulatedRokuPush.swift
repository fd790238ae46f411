import Foundation
import SimulatorKit

/// Content of a Roku push.
struct RokuPushContent: Sendable {
    enum Payload: Sendable {
        case message(RokuPushMessage)
        /// Replaces the whole body.
        case raw(Data)
    }

    let payload: Payload
    var forgery: RokuForgery?
}

/// The pushes of a Roku developer account.
struct SimulatedRokuPush: SimulatedPublisher {
    /// Parts of the control API for Roku's pushes.
    static let controls: Set = ["push", "delivery", "notifications", "keys"]

    static let rules = DeliveryRules(
        mostTries: 200, longestPauseMilliseconds: 10_000, timeoutSeconds: 10,
        makeID: { _ in UUID().uuidString.lowercased() },
        outcome: { $0 == 200 ? .delivered : .failed })

    private(set) var key: PushKey
    let apiKey: String
    var settings: RokuPushSettings?
    var outbox: PushOutbox<RokuPushContent>

    init(key: PushKey, apiKey: String, settings: RokuPushSettings? = nil, keepMessages: Int = 10_000) {
        self.key = key
        self.apiKey = apiKey
        self.settings = settings
        outbox = PushOutbox(Self.rules, keepMessages: keepMessages)
    }

    /// Publishes a message. Does nothing without an address.
    mutating func publish(_ message: RokuPushMessage, at now: Date) {
        if settings != nil { _ = publish(message, nil, at: now) }
    }

    private mutating func publish(_ message: RokuPushMessage, _ forgery: RokuForgery?, at now: Date) -> String {
        outbox.publish(
            RokuPushContent(payload: .message(message), forgery: forgery), type: message.type,
            token: message.transactionID, isForged: forgery != nil, at: now)
    }

    /// A signed message gets a new signature for each attempt.
    static func request(_ attempt: Attempt, at now: Date) throws -> PushRequest {
        let (message, settings) = (attempt.delivery.message, attempt.settings)
        var type = "text/plain"
        let body: Data
        switch (message.content.payload, settings.form) {
        case (.raw(let raw), let form):
            body = raw
            if form == .unsigned { type = "application/json" }
        case (.message(let content), .signed):
            body = Data(try RokuToken.text(content, id: message.id, attempt.key, message.content.forgery, at: now).utf8)
        case (.message(let content), .unsigned):
            body = content.json
            type = "application/json"
        }
        return PushRequest(
            url: settings.url, headers: [NamedValue(name: "Content-Type", value: type)], body: body)
    }

    /// An answer to the unsigned form must repeat the message's `responseKey` and nothing else. For the signed form the
    /// status suffices.
    func isReceipt(_ answer: PushAnswer, of attempt: Attempt) -> Bool {
        guard attempt.settings.form == .unsigned, case .message(let content) = attempt.delivery.message.content.payload,
            let responseKey = content.responseKey
        else { return true }
        let hasKey = !attempt.settings.requiresAPIKey || answer.header("ApiKey") == apiKey
        return hasKey && answer.body == Data(responseKey.utf8)
    }
}

extension SimulatedRokuPush {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        guard segments == ["keys"] else { return try controlPush(segments, call, at: now) }
        guard call.method == "POST" else { return .notAllowed("POST") }
        let new = PushKey()
        key = new
        return Reply(json: ["kid": new.id])
    }

    mutating func configure(_ call: Call, at now: Date) throws(ControlFault) { settings = try RokuPushSettings(call) }

    mutating func send(_ call: Call, at now: Date) throws(ControlFault) -> String {
        let order = try SendOrder<RokuForgery>(call, field: "message")
        switch (order.notification, order.raw) {
        case (nil, let raw?):
            guard order.forgery == nil else { throw .invalid("raw has no forge: it is the whole body") }
            return outbox.publish(RokuPushContent(payload: .raw(raw)), type: "RAW", token: nil, at: now)
        case (let object as [String: Any], nil):
            return publish(RokuPushMessage(object, at: now), order.forgery, at: now)
        case (let text as String, nil): return publish(RokuPushMessage(text: text), order.forgery, at: now)
        default: throw .invalid("there is either a message, which is an object or a text, or raw")
        }
    }
}
