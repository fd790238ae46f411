import Foundation
import SimulatorKit

/// Google's Pub/Sub with one push subscription.
struct SimulatedPubSub: SimulatedPublisher {
    /// Parts of the control API for Pub/Sub.
    static let controls: Set = ["push", "delivery", "notifications", "keys"]

    static let rules = DeliveryRules(
        mostTries: 200, longestPauseMilliseconds: 10_000, timeoutSeconds: 10,
        makeID: { String(firstID + $0) },
        outcome: { [102, 200, 201, 202, 204].contains($0 ?? 0) ? .delivered : .failed })

    /// Different in each process: otherwise a receiver that stores message ids would take new messages for repeats.
    private static let firstID = Int.random(in: 1_000_000_000...8_999_999_999) * 1_000_000

    private(set) var key: PushKey
    var settings: PushSettings?
    var outbox: PushOutbox<PubSubContent>

    init(key: PushKey, settings: PushSettings? = nil, keepMessages: Int = 10_000) {
        self.key = key
        self.settings = settings
        outbox = PushOutbox(Self.rules, keepMessages: keepMessages)
    }

    /// Publishes a notification. Does nothing without an address.
    mutating func publish(_ notification: DeveloperNotification, at now: Date) {
        if settings != nil { _ = publish(notification, nil, at: now) }
    }

    private mutating func publish(
        _ notification: DeveloperNotification, _ forgery: PushTokenForgery?, at now: Date
    ) -> String {
        outbox.publish(
            PubSubContent(payload: .notification(notification.json), forgery: forgery), type: notification.type,
            token: notification.purchaseToken, isForged: forgery != nil, at: now)
    }

    static func request(_ attempt: Attempt, at now: Date) throws -> PushRequest {
        let (message, settings) = (attempt.delivery.message, attempt.settings)
        var headers = [NamedValue(name: "Content-Type", value: "application/json")]
        if let token = try PushToken.authorization(settings, attempt.key, message.content.forgery, at: now) {
            headers.append(NamedValue(name: "Authorization", value: token))
        }
        return PushRequest(url: settings.url, headers: headers, body: message.body(settings.subscription))
    }
}

extension SimulatedPubSub {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        guard segments == ["keys"] else { return try controlPush(segments, call, at: now) }
        guard call.method == "POST" else { return .notAllowed("POST") }
        let new = PushKey()
        key = new
        return Reply(json: ["kid": new.id])
    }

    mutating func configure(_ call: Call, at now: Date) throws(ControlFault) { settings = try PushSettings(call) }

    mutating func send(_ call: Call, at now: Date) throws(ControlFault) -> String {
        let order = try SendOrder<PushTokenForgery>(call, field: "notification")
        switch (order.notification, order.raw) {
        case (nil, let raw?):
            return outbox.publish(
                PubSubContent(payload: .raw(raw), forgery: order.forgery), type: "RAW", token: nil,
                isForged: order.forgery != nil, at: now)
        case (let object as [String: Any], nil):
            return publish(DeveloperNotification(object, at: now), order.forgery, at: now)
        default: throw .invalid("there is either a notification, which is an object, or raw")
        }
    }
}
