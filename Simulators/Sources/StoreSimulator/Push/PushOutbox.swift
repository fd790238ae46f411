import Foundation
import SimulatorKit

/// Messages that wait to be sent, and the results of recently published ones.
///
/// Delivery works like Pub/Sub and SNS: unordered, concurrent, and retried until a message is acknowledged or given up.
struct PushOutbox<Content: Sendable>: Sendable {
    var order = DeliveryOrder()
    /// Whether messages are sent. While it is closed, only a handshake is sent and messages wait.
    var isOpen = true
    private let rules: DeliveryRules
    private var ready: ArraySlice<PushDelivery<Content>> = []
    private var held: [PushDelivery<Content>] = []
    /// Sent one after another, unlike ready deliveries.
    private var released: ArraySlice<PushDelivery<Content>> = []
    private var sendsReleased = false
    private var handshake: PushDelivery<Content>?
    /// Number of the latest handshake. Older ones are not retried.
    private var latestHandshake: Int?
    private var underWay = 0
    private var unfinished = 0
    private var generation = 0
    private(set) var log: RequestLog<LoggedMessage>

    init(_ rules: DeliveryRules, keepMessages: Int) {
        self.rules = rules
        log = RequestLog(capacity: keepMessages)
    }

    /// - Returns: the message's id.
    mutating func publish(
        _ content: Content, type: String, token: String?, isForged: Bool = false, at now: Date
    ) -> String {
        let copies = 1 + (order.duplicate ?? 0)
        let losing = order.lose ?? 0
        let isLost = losing > 0 || unfinished + copies > DeliveryRules.capacity
        if losing > 0 { order.lose = losing - 1 }
        let message = record(content, type, token, copies: copies, isLost: isLost, isForged: isForged, at: now)
        guard !isLost else { return message.id }
        unfinished += copies
        let deliveries = repeatElement(PushDelivery(message: message, generation: generation), count: copies)
        if order.hold == true { held += deliveries } else { ready += deliveries }
        return message.id
    }

    /// Publishes a message that replaces the previous handshake. No ``order`` applies to it.
    mutating func publishHandshake(_ content: Content, type: String, at now: Date) {
        let message = record(content, type, nil, copies: 1, isLost: false, isForged: false, at: now)
        handshake = PushDelivery(message: message, generation: generation, isHandshake: true)
        latestHandshake = message.sequence
    }

    mutating func withdrawHandshake() { (handshake, latestHandshake) = (nil, nil) }

    private mutating func record(
        _ content: Content, _ type: String, _ token: String?, copies: Int, isLost: Bool, isForged: Bool, at now: Date
    ) -> PushMessage<Content> {
        var id = ""
        let makeID = rules.makeID
        let sequence = log.add { sequence in
            id = makeID(sequence)
            return LoggedMessage(
                messageId: id, at: now.wholeMilliseconds, type: type, token: token, copies: copies, lost: isLost,
                forged: isForged)
        }
        return PushMessage(sequence: sequence, id: id, content: content, publishedAt: now)
    }

    /// Takes the next delivery that may be sent.
    mutating func next() -> PushDelivery<Content>? {
        guard underWay < DeliveryRules.mostAtOnce else { return nil }
        var next: PushDelivery<Content>?
        if let first = handshake {
            handshake = nil
            next = first
        } else if !isOpen {
            return nil
        } else if !sendsReleased, let first = released.popFirst() {
            sendsReleased = true
            next = first
        } else {
            next = ready.popFirst()
        }
        if next != nil { underWay += 1 }
        return next
    }

    /// Records the outcome of an attempt.
    /// - Parameters:
    ///   - status: nil without an answer.
    ///   - isReceipt: whether the answer's body and headers are as the store requires.
    /// - Returns: the delivery, and the pause before its ``retry(_:)``; nil if there is no further attempt.
    mutating func end(
        _ delivery: PushDelivery<Content>, status: Int?, isReceipt: Bool = true
    ) -> (delivery: PushDelivery<Content>, pause: Duration)? {
        underWay -= 1
        if delivery.inOrder { sendsReleased = false }
        let result = rules.outcome(status)
        let outcome = result == .delivered && !isReceipt ? .failed : result
        log.change(delivery.message.sequence) { entry in
            entry.tries += 1
            entry.lastStatus = status
            if outcome == .delivered { entry.acknowledged += 1 }
        }
        guard delivery.generation == generation else { return nil }
        var again = delivery
        again.tries += 1
        again.inOrder = false
        guard outcome == .failed, again.tries < rules.mostTries else {
            if !delivery.isHandshake { unfinished -= 1 }
            return nil
        }
        return (again, rules.pause(after: again.tries))
    }

    mutating func retry(_ delivery: PushDelivery<Content>) {
        guard delivery.generation == generation else { return }
        if !delivery.isHandshake {
            ready.append(delivery)
        } else if delivery.message.sequence == latestHandshake {
            handshake = delivery
        }
    }

    /// Ends the hold, and sends the held deliveries.
    /// - Parameter generator: nil keeps the order.
    /// - Returns: the number of deliveries.
    mutating func release(shuffledBy generator: SeededGenerator?) -> Int {
        var deliveries = held
        if var generator { deliveries.shuffle(using: &generator) }
        for index in deliveries.indices { deliveries[index].inOrder = true }
        released += deliveries
        held = []
        order.hold = nil
        return deliveries.count
    }

    /// Drops all waiting messages. Attempts in progress still complete.
    mutating func removeAll() {
        (ready, held, released) = ([], [], [])
        withdrawHandshake()
        unfinished = 0
        generation += 1
    }

    mutating func clearLog() { log.removeAll() }
}
