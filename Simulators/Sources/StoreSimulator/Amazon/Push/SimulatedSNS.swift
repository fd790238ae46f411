import Foundation
import SimulatorKit

/// Amazon SNS with one topic and one subscription to it.
struct SimulatedSNS: SimulatedPublisher {
    /// Parts of the control API for SNS.
    static let controls: Set = ["push", "delivery", "notifications"]

    /// Statuses 3xx and 4xx are final, except 429.
    static let rules = DeliveryRules(
        mostTries: 50, longestPauseMilliseconds: 5_000, timeoutSeconds: 15,
        makeID: { _ in UUID().uuidString.lowercased() },
        outcome: { status in
            switch status {
            case .some(200..<300): .delivered
            case .some(300..<429), .some(430..<500): .refused
            default: .failed
            }
        })

    let key: SNSKey
    var settings: SNSSettings?
    var outbox: PushOutbox<SNSContent>
    /// Token of the latest confirmation request.
    private var token: String?

    init(key: SNSKey, settings: SNSSettings? = nil, keepMessages: Int = 10_000) {
        self.key = key
        self.settings = settings
        outbox = PushOutbox(Self.rules, keepMessages: keepMessages)
        outbox.isOpen = settings?.confirmed ?? false
    }

    /// Publishes a notification. Does nothing without an address.
    mutating func publish(_ notification: PurchaseNotification, at now: Date) {
        if settings != nil { _ = publish(notification, nil, at: now) }
    }

    private mutating func publish(_ notification: PurchaseNotification, _ forgery: SNSForgery?, at now: Date) -> String
    {
        outbox.publish(
            SNSContent(payload: .notification(notification.text), forgery: forgery), type: notification.type,
            token: notification.receiptID, isForged: forgery != nil, at: now)
    }

    /// Sends a confirmation request, if the subscription is not confirmed.
    /// - Parameter address: address of the simulator.
    mutating func requestConfirmation(from address: String, at now: Date) {
        guard let settings, !settings.confirmed else { return }
        let token = (0..<8).map { _ in UUID().uuidString.lowercased().filter { $0 != "-" } }.joined()
        self.token = token
        outbox.publishHandshake(
            SNSContent(payload: .confirmation(token: token, address: address)), type: "SubscriptionConfirmation",
            at: now)
    }

    private mutating func setConfirmed() {
        settings?.confirmed = true
        outbox.isOpen = true
    }
}

extension SimulatedSNS {
    /// `GET /sns/confirm`
    mutating func confirm(_ call: Call) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        let items = call.queryItems
        guard let settings, let token, items["Action"] == "ConfirmSubscription", items["TopicArn"] == settings.topic,
            items["Token"] == token
        else {
            return Self.xml(
                400, "ErrorResponse",
                "<Error><Type>Sender</Type><Code>InvalidParameter</Code><Message>Invalid token</Message></Error>")
        }
        setConfirmed()
        return Self.xml(
            200, "ConfirmSubscriptionResponse",
            "<ConfirmSubscriptionResult><SubscriptionArn>\(settings.subscriptionARN)</SubscriptionArn>"
                + "</ConfirmSubscriptionResult>")
    }

    private static func xml(_ status: Int, _ name: String, _ content: String) -> Reply {
        let namespace = "http://sns.amazonaws.com/doc/2010-03-31/"
        var reply = Reply(status: status, body: Data("<\(name) xmlns=\"\(namespace)\">\(content)</\(name)>".utf8))
        reply.contentType = "text/xml"
        return reply
    }

    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        guard segments == ["push", "confirm"] else { return try controlPush(segments, call, at: now) }
        guard call.method == "POST" else { return .notAllowed("POST") }
        guard settings != nil else { throw .conflict("push is off: PUT /control/push") }
        setConfirmed()
        return Reply(status: 204)
    }

    mutating func configure(_ call: Call, at now: Date) throws(ControlFault) {
        let order: SNSSettingsOrder = try call.object(SNSSettingsOrder.fields)
        let before = settings
        guard let url = order.url ?? before?.url else { throw .invalid("url is missing") }
        var new = try SNSSettings(url: url, topic: order.topic ?? before?.topic ?? SNSSettings.exampleTopic)
        let isSame = new.url == before?.url && new.topic == before?.topic
        new.signatureVersion = order.signatureVersion ?? before?.signatureVersion ?? .sha1
        new.confirmed = order.confirmed ?? (isSame && before?.confirmed ?? false)
        settings = new
        outbox.isOpen = new.confirmed
        guard !isSame || order.confirmed == false else { return }
        outbox.withdrawHandshake()
        token = nil
        requestConfirmation(from: "http://\(call.host ?? "127.0.0.1")", at: now)
    }

    mutating func send(_ call: Call, at now: Date) throws(ControlFault) -> String {
        let order = try SendOrder<SNSForgery>(call, field: "message")
        switch (order.notification, order.raw) {
        case (nil, let raw?):
            guard order.forgery == nil else { throw .invalid("raw has no forge: it is the whole body") }
            return outbox.publish(SNSContent(payload: .raw(raw)), type: "RAW", token: nil, at: now)
        case (let object as [String: Any], nil):
            return publish(PurchaseNotification(object, at: now), order.forgery, at: now)
        case (let text as String, nil): return publish(PurchaseNotification(text: text), order.forgery, at: now)
        default: throw .invalid("there is either a message, which is an object or a text, or raw")
        }
    }
}
