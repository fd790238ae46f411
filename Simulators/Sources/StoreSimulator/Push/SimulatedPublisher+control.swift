import Foundation
import SimulatorKit

extension SimulatedPublisher {
    /// Executes a control call that all publishers support: for push, delivery and messages.
    mutating func controlPush(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.joined(separator: "/"), call.method) {
        case ("push", "PUT"): try configure(call, at: now)
        case ("push", "GET"):
            guard let settings else { throw .notFound("push is off") }
            return Reply(json: settings)
        case ("push", "DELETE"):
            settings = nil
            outbox.removeAll()
        case ("push", _): return .notAllowed("PUT", "GET", "DELETE")
        case ("delivery", "PUT"):
            let order: DeliveryOrder = try call.object(DeliveryOrder.fields)
            try order.check()
            outbox.order = order
        case ("delivery", "GET"): return Reply(json: outbox.order)
        case ("delivery", "DELETE"): outbox.order = DeliveryOrder()
        case ("delivery", _): return .notAllowed("PUT", "GET", "DELETE")
        case ("delivery/release", "POST"): return try release(call)
        case ("notifications", "GET"):
            var page = outbox.log.page { $0 }
            page.totalItemCount = nil
            return Reply(json: page)
        case ("notifications", "POST"):
            guard settings != nil else { throw .conflict("push is off: PUT /control/push") }
            return Reply(json: ["messageId": try send(call, at: now)])
        case ("notifications", "DELETE"): outbox.clearLog()
        case ("notifications", _): return .notAllowed("POST", "GET", "DELETE")
        default: throw .noSuchAddress
        }
        return Reply(status: 204)
    }

    private mutating func release(_ call: Call) throws(ControlFault) -> Reply {
        let order: ReleaseOrder = try call.object(ReleaseOrder.fields)
        let seed = order.shuffle == true ? order.seed ?? UInt64.random(in: 0...0xFFFF_FFFF) : nil
        return Reply(json: Released(released: outbox.release(shuffledBy: seed.map(SeededGenerator.init)), seed: seed))
    }
}

private struct Released: Encodable {
    let released: Int
    let seed: UInt64?
}

/// Body of `POST /control/notifications`.
struct SendOrder<Forgery: Decodable> {
    /// Any JSON.
    let notification: Any?
    /// Replaces the whole body.
    let raw: Data?
    let forgery: Forgery?

    /// - Parameter field: name of the field with the notification.
    init(_ call: Call, field: String) throws(ControlFault) {
        let input: Input = try call.object([field, "forge", "raw"])
        let whole = try? JSONSerialization.jsonObject(with: call.objectText) as? [String: Any]
        notification = whole?[field]
        raw = input.raw.map { Data($0.utf8) }
        forgery = input.forge
    }

    private struct Input: Decodable {
        var forge: Forgery?
        var raw: String?
    }
}

extension ControlFault {
    /// - Throws: if the address cannot be pushed to.
    static func checkPushURL(_ url: String) throws(ControlFault) {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme ?? ""),
            let host = parts.host, !host.isEmpty, url.utf8.count <= 2_000
        else { throw .invalid("the url of push is that of an HTTP server, such as http://127.0.0.1:8080/push") }
    }
}
