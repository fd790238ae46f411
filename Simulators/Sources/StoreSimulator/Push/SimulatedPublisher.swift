import Foundation
import SimulatorKit

/// A service that pushes a store's messages to one address, without HTTP and clock.
protocol SimulatedPublisher: Sendable {
    associatedtype Settings: Sendable, Encodable
    associatedtype Content: Sendable
    associatedtype Key: Sendable

    static var rules: DeliveryRules { get }

    /// Address for messages; nil while push is off.
    var settings: Settings? { get set }
    /// Key that signs messages.
    var key: Key { get }
    var outbox: PushOutbox<Content> { get set }

    /// The HTTP request of an attempt.
    static func request(_ attempt: PushAttempt<Self>, at now: Date) throws -> PushRequest

    /// Whether an answer with a success status is otherwise as the store requires.
    func isReceipt(_ answer: PushAnswer, of attempt: PushAttempt<Self>) -> Bool

    /// `PUT /control/push`
    mutating func configure(_ call: Call, at now: Date) throws(ControlFault)

    /// `POST /control/notifications`: sends any message or body, with any defect.
    /// - Returns: the message's id.
    mutating func send(_ call: Call, at now: Date) throws(ControlFault) -> String
}

/// One delivery attempt, with the address and key at its time.
struct PushAttempt<Publisher: SimulatedPublisher>: Sendable {
    let delivery: PushDelivery<Publisher.Content>
    let settings: Publisher.Settings
    let key: Publisher.Key
}

/// The HTTP request of an attempt.
struct PushRequest: Sendable {
    let url: String
    let headers: [NamedValue]
    let body: Data
}

/// The receiver's answer to an attempt.
struct PushAnswer: Sendable {
    let status: Int
    var headers: [NamedValue] = []
    var body = Data()

    /// The first value of a header.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension SimulatedPublisher {
    func isReceipt(_ answer: PushAnswer, of attempt: PushAttempt<Self>) -> Bool { true }

    typealias Attempt = PushAttempt<Self>

    mutating func next() -> Attempt? {
        guard let settings, let delivery = outbox.next() else { return nil }
        return Attempt(delivery: delivery, settings: settings, key: key)
    }

    /// - Parameter answer: nil without an answer.
    mutating func end(
        _ attempt: Attempt, _ answer: PushAnswer?
    ) -> (delivery: PushDelivery<Content>, pause: Duration)? {
        outbox.end(
            attempt.delivery, status: answer?.status, isReceipt: answer.map { isReceipt($0, of: attempt) } ?? true)
    }

    mutating func end(
        _ attempt: Attempt, status: Int?
    ) -> (delivery: PushDelivery<Content>, pause: Duration)? { outbox.end(attempt.delivery, status: status) }

    mutating func retry(_ delivery: PushDelivery<Content>) { outbox.retry(delivery) }
}
