import ConsolePages
import Hummingbird
import RelayCore
import RelayStore

/// What an operator may do at the console: each is asked for once more before it is done, with a reason, and written down.
enum ConsoleAction: String, CaseIterable, Sendable {
    case retry, abandon, replayNotification, replayWebhook, replayEvent, replaySubscription, enableEndpoint, resync,
        refresh, revokeKey

    /// For the form that confirms it, and for the form's way back.
    var route: String {
        switch self {
        case .retry: "/console/validations/:id/retry"
        case .abandon: "/console/validations/:id/abandon"
        case .replayNotification: "/console/notifications/:id/replay"
        case .replayWebhook: "/console/webhooks/:id/replay"
        case .replayEvent: "/console/events/:id/replay"
        case .replaySubscription: "/console/subscriptions/:id/replay"
        case .enableEndpoint: "/console/endpoints/:id/enable"
        case .resync: "/console/customers/:id/resync"
        case .refresh: "/console/customers/:id/refresh"
        case .revokeKey: "/console/keys/:id/revoke"
        }
    }

    func path(_ id: String) -> String { route.replacing(":id", with: id) }

    var title: String {
        switch self {
        case .retry: "Retry a validation"
        case .abandon: "Abandon a validation"
        case .replayNotification: "Replay a notification"
        case .replayWebhook: "Replay a webhook message"
        case .replayEvent: "Replay an event"
        case .replaySubscription: "Look at a subscription again"
        case .enableEndpoint: "Enable a webhook endpoint"
        case .resync: "Re-sync a customer"
        case .refresh: "Ask Cleeng about a customer"
        case .revokeKey: "Revoke a key"
        }
    }

    var button: String {
        switch self {
        case .retry: "Retry"
        case .abandon: "Abandon"
        case .replayNotification, .replayWebhook, .replayEvent: "Replay"
        case .replaySubscription: "Look again"
        case .enableEndpoint: "Enable"
        case .resync: "Re-sync"
        case .refresh: "Ask Cleeng now"
        case .revokeKey: "Revoke"
        }
    }

    /// What will happen.
    var consequence: String {
        switch self {
        case .retry:
            "The purchase is sent to Cleeng once more, until Cleeng has answered; one that waits already keeps its place. The app's answer stays as it is until something new is known. Where Cleeng refuses our token or is away, that has to end first."
        case .abandon:
            "The purchase ends as rejected, with the reason abandoned, and is never sent again. The customer gets no access by it. This cannot be taken back."
        case .replayNotification:
            "What it says is heard once more, which changes nothing that was heard, and it is passed on to Cleeng again."
        case .replayWebhook:
            "The same endpoint is told the customer's state as it is now, as a new message. A parked message is delivered as it is."
        case .replayEvent:
            "The event is processed once more. What it says is a shortcut: nothing is granted that Cleeng does not grant."
        case .replaySubscription:
            "The subscription is looked at now, and the store or Cleeng is asked where it has to be. A parked one is parked no longer."
        case .enableEndpoint:
            "It takes messages again from now on. What was dropped meanwhile is not sent: replay it from the command line."
        case .resync: "All endpoints of the publisher are told the customer's state as it is now."
        case .refresh:
            "Cleeng is asked now what the customer is entitled to, for every offer that is known of them or sold by the publisher. Access follows the answer: it may begin, and it may end."
        case .revokeKey:
            "Whoever uses the key is answered 401 within two seconds, and is signed out of the console. This cannot be taken back."
        }
    }

    /// It cannot be taken back.
    var isGrave: Bool { self == .abandon || self == .revokeKey }

    /// Lists offer it for several rows at once.
    var takesSelections: Bool {
        switch self {
        case .retry, .abandon, .replayNotification, .replayWebhook, .replayEvent, .replaySubscription: true
        case .enableEndpoint, .resync, .refresh, .revokeKey: false
        }
    }

    var section: Section {
        switch self {
        case .retry, .abandon: .validations
        case .replayNotification: .notifications
        case .replayWebhook, .enableEndpoint: .webhooks
        case .replayEvent: .events
        case .replaySubscription: .subscriptions
        case .resync, .refresh: .customers
        case .revokeKey: .keys
        }
    }

    /// Where one goes on afterwards.
    func page(_ id: String) -> String {
        switch self {
        case .retry, .abandon: "/console/validations/" + id
        case .replayNotification: Section.notifications.path
        case .replayWebhook: Section.webhooks.path
        case .replayEvent: Section.events.path
        case .replaySubscription: Section.subscriptions.path
        case .enableEndpoint: "/console/endpoints"
        case .resync, .refresh: ResyncTarget(id).map { ConsoleLink.customer($0.username) } ?? Section.customers.path
        case .revokeKey: Section.keys.path
        }
    }

    private var done: String {
        switch self {
        case .retry: "It is in line to be sent again: the timeline shows each try."
        case .abandon: "It is abandoned."
        case .replayNotification: "The notification is heard and passed on again."
        case .replayWebhook: "The message is on its way."
        case .replayEvent: "The event is processed again."
        case .replaySubscription: "The subscription is looked at again."
        case .enableEndpoint: "The endpoint takes messages again."
        case .resync: "The endpoints are told again."
        case .refresh: "Cleeng has answered: this is what is known now."
        case .revokeKey: "The key is revoked."
        }
    }

    static func notice(_ name: String?) -> String? { name.flatMap { ConsoleAction(rawValue: $0) }?.done }
}

/// A publisher's customer as one part of a path: names may hold anything.
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
