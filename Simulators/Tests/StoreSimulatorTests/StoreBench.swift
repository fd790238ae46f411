import Foundation

@testable import SimulatorKit
@testable import StoreSimulator

/// A simulated store without HTTP, at a time that a test sets.
protocol StoreBench: AnyObject {
    associatedtype Store: SimulatedStore
    var front: StoreFront<Store> { get set }
    var now: Date { get }
}

/// An answer of a simulated store.
struct StoreAnswer {
    let status: Int
    let text: String

    init(_ reply: Reply) {
        status = reply.status
        text = String(decoding: reply.body ?? Data(), as: UTF8.self)
    }

    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:] }
}

extension StoreBench {
    /// A control call, such as `PUT`, `subscriptions/t`, `{}`.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: String = "") throws -> StoreAnswer {
        let call = Call(
            method: method, path: "/control/\(path)", host: "simulator:8093", body: Data(body.utf8), startedAt: now)
        return StoreAnswer(try front.control(call, at: now))
    }

    /// Any other call.
    /// - Returns: nil where it is not answered.
    func answer(to call: Call) -> StoreAnswer? {
        guard case .answer(let reply) = front.begin(call, at: now).ending else { return nil }
        return StoreAnswer(reply)
    }

    /// The list of messages.
    func messages() throws -> [[String: Any]] {
        try control("GET", "notifications").json["items"] as? [[String: Any]] ?? []
    }

    /// The types of the messages, which are then forgotten.
    func types() throws -> [String] {
        defer { _ = try? control("DELETE", "notifications") }
        return try messages().compactMap { $0["type"] as? String }
    }
}
