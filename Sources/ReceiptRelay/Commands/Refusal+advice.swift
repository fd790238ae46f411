import Relay
import RelayCore

extension OpsRefusal {
    var advice: String {
        switch self {
        case .unknown: "there is no validation with that id"
        case .status(let status): "it is \(status.name), and that does not allow it"
        case .superseded:
            "a newer request for the same subscription has been sent: sending this one would move the subscription back"
        case .busy: "a worker is sending it at this moment; try again in a few seconds"
        case .receiptGone: "its receipt is no longer kept"
        }
    }
}

extension ActRefusal {
    var advice: String {
        switch self {
        case .unknown(let subject): subject.advice
        case .noSuchPublisher(let id, let known):
            "there is no publisher \(id): \(Self.list(known, none: "there are none yet", "known are ")); `receipt-relay publishers add \(id)` adds it"
        case .endpointNotActive: "its endpoint is disabled or removed"
        case .endpointExists(let id):
            "an endpoint with this URL is there already: \(id); `receipt-relay webhooks enable \(id)` enables it if it is disabled, `webhooks remove` removes it"
        case .notGenuine(_, let detail): "it is not genuine by these settings: \(detail)"
        case .nobodyToTell: "no purchase of that customer is known, or no endpoint takes messages"
        case .cannotAsk(let why): why
        case .storeAway(let why): "the App Store cannot be asked now: \(why)"
        case .nothingToConfirm: "it asks for no confirmation: a SubscriptionConfirmation does"
        case .publisherNotNamed(let known): "name the publisher with --publisher\(Self.list(known, none: "", ": "))"
        }
    }

    /// 64 (`EX_USAGE`) if the command's arguments were wrong.
    var exitCode: Int32 {
        switch self {
        case .publisherNotNamed, .unknown(.publisher): 64
        case .unknown, .noSuchPublisher, .endpointNotActive, .endpointExists, .notGenuine, .nobodyToTell,
            .nothingToConfirm, .cannotAsk, .storeAway:
            1
        }
    }

    private static func list(_ known: [PublisherID], none: String, _ words: String) -> String {
        known.isEmpty ? none : words + known.map(\.text).joined(separator: ", ")
    }
}

extension ActRefusal.Subject {
    fileprivate var advice: String {
        switch self {
        case .notification:
            "there is no notification with that id; `receipt-relay notifications list` shows them"
        case .message: "there is no message with that id; `receipt-relay webhooks deliveries` shows them"
        case .event: "there is no event with that id; `receipt-relay events list` shows them"
        case .subscription: "there is no subscription with that id; `receipt-relay subscriptions list` shows them"
        case .endpoint: "there is no endpoint with that id; `receipt-relay webhooks list` shows them"
        case .key: "there is no key with that id; `receipt-relay keys list` shows them"
        case .publisher: "no publisher goes by that id"
        case .offer: "that is not known; `receipt-relay offers list` shows what is"
        }
    }
}
