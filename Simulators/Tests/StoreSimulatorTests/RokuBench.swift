import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

/// The simulated Roku without HTTP, at a time that a test sets.
final class RokuBench: StoreBench {
    static let apiKey = "0123456789abcdef0123456789abcdef0123"

    var now = TestAccount.now
    var front: StoreFront<SimulatedRoku>

    init() throws {
        let push = SimulatedRokuPush(key: TestAccount.pushKey, apiKey: Self.apiKey)
        front = StoreFront(SimulatedRoku(apiKey: Self.apiKey, push: push), keepRequests: 100)
    }

    /// With push to an address that nothing is sent to.
    static func pushing(_ form: String = "signed", requiresAPIKey: Bool = false) throws -> RokuBench {
        let bench = try RokuBench()
        try bench.control(
            "PUT", "push", #"{"url":"http://127.0.0.1:9/push","form":"\#(form)","requiresApiKey":\#(requiresAPIKey)}"#)
        return bench
    }

    /// What `validate-transaction` answers.
    func transaction(_ id: String, apiKey: String = apiKey) throws -> StoreAnswer {
        let path = "/listen/transaction-service.svc/validate-transaction/\(apiKey)/\(id)"
        return try #require(answer(to: Call(method: "GET", path: path, body: Data(), startedAt: now)))
    }

    /// Takes the attempts that may begin now.
    func attempts() -> [SimulatedRokuPush.Attempt] {
        var attempts: [SimulatedRokuPush.Attempt] = []
        while let next = front.store.push.next() { attempts.append(next) }
        return attempts
    }

    func request(_ attempt: SimulatedRokuPush.Attempt) throws -> PushRequest {
        try SimulatedRokuPush.request(attempt, at: now)
    }
}

/// A push in its signed form, as a receiver reads it.
struct ReadRokuPush {
    let jws: UnverifiedJWS
    let header: [String: Any]
    let claims: [String: Any]

    init(_ body: Data) throws {
        jws = try #require(UnverifiedJWS(String(decoding: body, as: UTF8.self)))
        header = try #require(try JSONSerialization.jsonObject(with: jws.header) as? [String: Any])
        claims = try #require(try JSONSerialization.jsonObject(with: jws.payload) as? [String: Any])
    }

    var message: Data? {
        (claims["x-Roku-message"] as? String).flatMap { text in
            let standard = text.replacing("-", with: "+").replacing("_", with: "/")
            return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
        }
    }

    var object: [String: Any] {
        message.flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] } ?? [:]
    }

    /// - Parameter keys: the key set.
    func isSigned(by keys: Data) throws -> Bool {
        try VerificationKey(keys, id: header["kid"] as? String).verifies(jws)
    }
}
