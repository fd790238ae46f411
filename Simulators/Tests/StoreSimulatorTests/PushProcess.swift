import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import ReceiverSupport
import StoreTestSupport
import Testing

/// Runs a simulator that pushes to a receiver.
/// - Parameters:
///   - arguments: the simulator's, for the address of the receiver.
///   - status: answers the push of a number, counted from 0; nil answers nothing.
func withPushes(
    _ arguments: @escaping @Sendable (_ url: String) -> [String],
    answering status: @escaping @Sendable (Int) -> Int? = { _ in 204 },
    test: @escaping @Sendable (StoreProcess, _ next: () async throws -> Received) async throws -> Void
) async throws {
    let (pushes, continuation) = AsyncStream.makeStream(of: Received.self)
    let count = NIOLockedValueBox(0)
    try await withReceiver { received in
        let number = count.withLockedValue { count in
            defer { count += 1 }
            return count
        }
        continuation.yield(received)
        guard let status = status(number) else {
            try? await Task.sleep(for: .seconds(600))
            return Response(status: .ok)
        }
        // Neither store follows a redirection.
        let headers: HTTPFields = status / 100 == 3 ? [.location: "/elsewhere"] : [:]
        return Response(status: .init(code: status), headers: headers)
    } _: { port, _ in
        let store = try await StoreProcess.start(arguments("http://127.0.0.1:\(port)/push"))
        defer { store.end() }
        try await test(store) {
            let next = await pushes.first { _ in true }
            return try #require(next)
        }
    }
}

extension StoreProcess {
    /// Answer of `GET`.
    func get(_ url: String) async throws -> (status: UInt, body: Data) {
        let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(20))
        return (answer.status.code, Data((try await answer.body.collect(upTo: 1 << 20)).readableBytesView))
    }

    /// Waits for the list of messages to have an entry: an answer arrives a moment before it is noted.
    func message(where isMeant: ([String: Any]) -> Bool) async throws -> [String: Any] {
        while true {
            let text = try await control("GET", "notifications")
            let page = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let items = page?["items"] as? [[String: Any]] ?? []
            if let found = items.first(where: isMeant) { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
