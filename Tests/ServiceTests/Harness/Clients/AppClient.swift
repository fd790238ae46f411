import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Many concurrent apps: one connection for each call, and no hidden retries.
enum AppClient {
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 512
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Parameter patience: longest wait for an answer.
    static func post(
        _ purchase: TestPurchase, to relay: Relay, patience: TimeAmount = .seconds(90)
    ) async -> Posted {
        let began = ContinuousClock.now
        let answer = try? await call(.POST, relay, "/apple/payment", body: purchase.body, patience: patience)
        return Posted(
            purchase: purchase, status: answer?.status, contentType: answer?.header("Content-Type"),
            retryAfter: answer?.header("Retry-After"), id: answer?.json["validationId"].string,
            took: ContinuousClock.now - began)
    }

    /// Posts all purchases, at most `width` at once.
    static func post(_ purchases: [TestPurchase], to relay: Relay, width: Int = 16) async -> [Posted] {
        await inParallel(purchases, width: width) { await post($0, to: relay) }
    }

    static func poll(_ id: String, of relay: Relay, wait: Int? = nil) async throws -> HTTP.Answer {
        try await call(
            .GET, relay, "/entitlements/\(id)", headers: wait.map { ["Prefer": "wait=\($0)"] } ?? [:])
    }

    /// Polls each id, held, until all are final. Returns the number of each status.
    static func outcomes(_ ids: [String], of relay: Relay) async throws -> [String: Int] {
        let statuses = await inParallel(ids, width: 200) { id -> String in
            let end = ContinuousClock.now + Awaiting.patience + Awaiting.patience
            var (status, failures) = ("never answered", 0)
            while ContinuousClock.now < end {
                // Asks again after a connection error, like an app.
                guard let answer = try? await poll(id, of: relay, wait: 10) else {
                    failures += 1
                    if failures == 5 { return "no answer" }
                    try? await Task.sleep(for: .seconds(1))
                    continue
                }
                status = answer.json["status"].string ?? "HTTP \(answer.status)"
                if answer.status == 200, status != "pending" { return status }
                if answer.status != 200 { try? await Task.sleep(for: .milliseconds(200)) }
            }
            return status
        }
        return Dictionary(grouping: statuses) { $0 }.mapValues(\.count)
    }

    static func purchases(_ count: Int, _ name: String) -> [TestPurchase] {
        (0..<count).map { TestPurchase(email: "\(name)-\($0)@example.test") }
    }

    static func call(
        _ method: HTTPMethod, _ relay: Relay, _ path: String, headers: [String: String] = [:], body: Data? = nil,
        patience: TimeAmount = .seconds(90)
    ) async throws -> HTTP.Answer {
        var request = HTTPClientRequest(url: relay.url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(relay.keys.app)")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(data: body))
        }
        let response = try await client.execute(request, timeout: patience)
        let collected = try await response.body.collect(upTo: 1 << 20)
        return HTTP.Answer(
            status: Int(response.status.code), headers: response.headers, body: Data(buffer: collected))
    }

    private static func inParallel<Item: Sendable, Result: Sendable>(
        _ items: [Item], width: Int, _ body: @escaping @Sendable (Item) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: Result.self) { group in
            var rest = items.makeIterator()
            for _ in 0..<width {
                guard let item = rest.next() else { break }
                group.addTask { await body(item) }
            }
            var results: [Result] = []
            while let result = await group.next() {
                results.append(result)
                if let item = rest.next() { group.addTask { await body(item) } }
            }
            return results
        }
    }
}
