import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore
import StoreSignals

/// An operator's action in the console. Each needs a confirmation and a reason, and is recorded in the audit log.
enum ConsoleAction: String, CaseIterable, Sendable {
    case retry, abandon, replayNotification, testNotification, confirmTopic, replayWebhook, replayEvent,
        replaySubscription, lookUpRefunds, enableEndpoint, disableEndpoint, resync, refresh, revokeKey

    /// Texts by which the console asks for confirmation.
    struct Form: Sendable {
        /// Path under `/console/`, with `:id`.
        var path: String
        var section: Section
        var title: String
        var button: String
        /// The action's effect, for the confirmation.
        var consequence: String
        var done: String
        /// Whether it cannot be undone.
        var isGrave = false
        /// Whether lists offer it for several rows at once.
        var takesSelections = false
    }

    var form: Form {
        switch self {
        case .retry:
            Form(
                path: "validations/:id/retry", section: .validations, title: "Retry a validation", button: "Retry",
                consequence:
                    "The purchase is sent to Cleeng once more, until Cleeng has answered; one that waits already keeps its place. The app's answer stays as it is until something new is known. Where Cleeng refuses our token or is away, that has to end first.",
                done: "It is in line to be sent again: the timeline shows each try.", takesSelections: true)
        case .abandon:
            Form(
                path: "validations/:id/abandon", section: .validations, title: "Abandon a validation",
                button: "Abandon",
                consequence:
                    "The purchase ends as rejected, with the reason abandoned, and is never sent again. The customer gets no access by it, unless an operator retries it.",
                done: "It is abandoned.", isGrave: true, takesSelections: true)
        case .replayNotification:
            Form(
                path: "notifications/:id/replay", section: .notifications, title: "Replay a notification",
                button: "Replay",
                consequence:
                    "The ledger records it again, which changes nothing that it has recorded, and it is passed on to Cleeng again.",
                done: "The notification is processed and passed on again.", takesSelections: true)
        case .testNotification:
            Form(
                path: "notifications/:id/test", section: .notifications, title: "Test notifications", button: "Test",
                consequence:
                    "The App Store sends a notification of the type TEST to the URL that App Store Connect has for this environment. What it says of the delivery is shown here, after about 20 seconds. For one of several apps, its bundle id stands behind the environment in the address: Sandbox-com.example.app.",
                done: "Apple has delivered the test notification, and it came in here.")
        case .confirmTopic:
            Form(
                path: "notifications/:id/confirm", section: .notifications, title: "Confirm a subscription to a topic",
                button: "Confirm",
                consequence:
                    "The relay confirms to Amazon SNS that it takes the topic's messages. From then on the store's notifications come by it.",
                done: "The subscription is confirmed.")
        case .replayWebhook:
            Form(
                path: "webhooks/:id/replay", section: .webhooks, title: "Replay a webhook message", button: "Replay",
                consequence:
                    "The same endpoint receives the customer's state as it is now, as a new message. A parked message is delivered as it is.",
                done: "The message is on its way.", takesSelections: true)
        case .replayEvent:
            Form(
                path: "events/:id/replay", section: .events, title: "Replay an event", button: "Replay",
                consequence:
                    "The event is processed once more. What it says is a shortcut: nothing is granted that Cleeng does not grant.",
                done: "The event is processed again.", takesSelections: true)
        case .replaySubscription:
            Form(
                path: "subscriptions/:id/replay", section: .subscriptions, title: "Look at a subscription again",
                button: "Look again",
                consequence:
                    "The subscription is looked at now, and the store or Cleeng is asked where it has to be. A parked one is parked no longer.",
                done: "The subscription is looked at again.", takesSelections: true)
        case .lookUpRefunds:
            Form(
                path: "subscriptions/:id/refunds", section: .subscriptions, title: "Look up refunds",
                button: "Look up refunds",
                consequence:
                    "The App Store is asked for all refunds of the subscription's customer. The ledger records each of them: what was refunded gives no access from then on.",
                done: "The App Store has answered: the audit log says how many refunds were new.")
        case .enableEndpoint:
            Form(
                path: "endpoints/:id/enable", section: .webhooks, title: "Enable a webhook endpoint", button: "Enable",
                consequence:
                    "It takes messages again from now on. What was dropped meanwhile is not sent: replay it from the command line.",
                done: "The endpoint takes messages again.")
        case .disableEndpoint:
            Form(
                path: "endpoints/:id/disable", section: .webhooks, title: "Disable a webhook endpoint",
                button: "Disable",
                consequence:
                    "Nothing is sent to it until it is enabled again. What waits for it is dropped, and so is what comes meanwhile.",
                done: "The endpoint takes no more messages.")
        case .resync:
            Form(
                path: "customers/:id/resync", section: .customers, title: "Re-sync a customer", button: "Re-sync",
                consequence: "All endpoints of the publisher receive the customer's state as it is now.",
                done: "The endpoints are notified again.")
        case .refresh:
            Form(
                path: "customers/:id/refresh", section: .customers, title: "Ask Cleeng about a customer",
                button: "Ask Cleeng now",
                consequence:
                    "Cleeng is asked now what the customer is entitled to, for every offer that is known of them or sold by the publisher. Access follows the answer: it may begin, and it may end.",
                done: "Cleeng has answered: this is what is known now.")
        case .revokeKey:
            Form(
                path: "keys/:id/revoke", section: .keys, title: "Revoke a key", button: "Revoke",
                consequence:
                    "Clients with the key are answered 401 within two seconds, and are signed out of the console. This cannot be taken back.",
                done: "The key is revoked.", isGrave: true)
        }
    }

    /// Route of the form that confirms it.
    var route: String { "/console/" + form.path }

    func path(_ id: String) -> String { route.replacing(":id", with: id) }

    /// The page that follows the action.
    func page(_ id: String) -> String {
        switch self {
        case .retry, .abandon: "/console/validations/" + id
        case .enableEndpoint, .disableEndpoint: "/console/endpoints"
        case .refresh: ResyncTarget(id).map { ConsoleLink.customer($0.username) } ?? form.section.path
        case .replayNotification, .testNotification, .confirmTopic, .replayWebhook, .replayEvent, .replaySubscription,
            .lookUpRefunds, .resync, .revokeKey:
            form.section.path
        }
    }

    /// - Throws: ``Problem``; ``ActRefusal``, ``OpsRefusal``.
    func perform(_ id: String, _ tools: OpsTools, by actor: Actor, reason: String) async throws {
        func known<ID>(_ id: ID?) throws -> ID {
            guard let id else { throw Problem(.notFound, "nothing is known by this id") }
            return id
        }
        func perform<Outcome>(_ act: Act<Outcome>) async throws {
            _ = try await tools.operations.perform(act, by: actor, reason: reason)
        }
        switch self {
        case .retry: try await perform(.retry(try known(ValidationID(id))))
        case .abandon: try await perform(.abandon(try known(ValidationID(id))))
        case .replayNotification:
            try await perform(.replay(notification: try known(NotificationID(id)), tools.notifications))
        case .testNotification:
            let parts = id.parts(at: "-", maxSplits: 1).map(String.init)
            let act = LongAct<TestedNotification>.testNotification(
                of: parts.count > 1 ? BundleID(parts[1]) : nil, in: StoreEnvironment(parts[0]), tools.appStore)
            let tested = try await tools.operations.perform(act, by: actor, reason: reason)
            guard tested.outcome == .received else { throw Problem(.busy, tested.words) }
        case .confirmTopic:
            let act = LongAct<TopicConfirmation>.confirm(
                notification: try known(NotificationID(id)), tools.topics)
            let answer = try await tools.operations.perform(act, by: actor, reason: reason)
            if case .away(let why) = answer { throw Problem(.busy, "SNS cannot be asked now: \(why)") }
            try answer.check()
        case .replayWebhook: try await perform(.replay(message: try known(DeliveryID(id))))
        case .replayEvent: try await perform(.replay(event: try known(NotificationID(id))))
        case .replaySubscription: try await perform(.replay(subscription: try known(SubscriptionCursor(id)).name))
        case .lookUpRefunds:
            let name = try known(SubscriptionCursor(id)).name
            let act = LongAct<RefundLookup>.refunds(of: name, tools.appStore)
            _ = try await tools.operations.perform(act, by: actor, reason: reason)
        case .enableEndpoint: try await perform(.enable(try known(EndpointID(id))))
        case .disableEndpoint: try await perform(.disable(try known(EndpointID(id))))
        case .resync:
            let target = try known(ResyncTarget(id))
            try await perform(.resync(target.username, of: target.publisher))
        case .refresh:
            let target = try known(ResyncTarget(id))
            let act = tools.refresh(try known(CustomerEmail(target.username.text)), of: target.publisher)
            let asked = try await tools.operations.perform(act, by: actor, reason: reason)
            if let problem = Self.problem(asked.outcome) { throw problem }
        case .revokeKey: try await perform(.revoke(APIKeyID(id)))
        }
    }

    /// The error if Cleeng was not asked; nil if it answered.
    private static func problem(_ outcome: CustomerInquiryOutcome) -> Problem? {
        switch outcome {
        case .asked: nil
        case .pending: Problem(.busy, "a purchase of theirs is pending, and Cleeng is asked about it every few seconds")
        case .tooSoon: Problem(.busy, "the customer was read a moment ago: try again in five seconds")
        case .away: Problem(.busy, "Cleeng cannot be asked now: the overview says how it does")
        }
    }
}

/// A publisher's customer, encoded as one part of a path. Usernames may contain any characters.
struct ResyncTarget: Sendable {
    var publisher: PublisherID
    var username: Username

    init(publisher: PublisherID, username: Username) {
        self.publisher = publisher
        self.username = username
    }

    init?(_ id: String) {
        guard let bytes = Hex.bytes(id[...]), let plain = String(validating: bytes, as: UTF8.self) else { return nil }
        let parts = plain.parts(at: "\n", maxSplits: 1).map(String.init)
        guard parts.count == 2, PublisherID.isValid(parts[0]), (1...512).contains(parts[1].unicodeScalars.count),
            !parts[1].utf8.contains(0)
        else { return nil }
        self.init(publisher: PublisherID(parts[0]), username: Username(parts[1]))
    }

    var id: String { Hex.text(of: Array("\(publisher)\n\(username)".utf8)) }
}

extension ConsoleAction {
    /// Actions that test whether the App Store reaches this relay, one per environment.
    static let tests = ["Production", "Sandbox"].map {
        ListPage.Link("Test notifications of \($0)", href: testNotification.path($0))
    }
}
