import Testing

@testable import CleengSimulator

extension Bench {
    static let webhooks = #"{"url":"http://127.0.0.1:9/webhooks","secret":"sixteen-bytes-or-more"}"#

    /// A bench that sends events.
    static func telling(_ change: (inout SimulatorSettings) -> Void = { _ in }) throws -> Bench {
        let bench = Bench(change)
        try bench.control("PUT", "/_simulator/webhooks", webhooks)
        return bench
    }

    /// Takes off what is to be sent by now, in order.
    func events() -> [WebhookEvent] {
        var events: [WebhookEvent] = []
        while let event = simulator.nextWebhook() { events.append(event) }
        return events
    }

    /// The same as text: the topic, or the result of a validation, and whom it is about.
    func told() -> [String] {
        events().map { event in
            let result = AnyJSON.parse(event.body)?["data"]?["result"]?.string
            return "\(result ?? event.topic.rawValue) \(event.email.text)"
        }
    }
}
