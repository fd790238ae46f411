import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestRun
import Testing

@testable import CleengSimulator
@testable import SimulatorKit

/// StoreKit 2's endpoints as a client meets them, over a socket.
@Suite(.timeLimit(.paced(minutes: 4))) struct StoreKit2HTTPTests {
    private static let id = "6f1c1f0e-0000-4000-8000-000000000001"
    private static let token = ["X-Publisher-Token": Bench.token, "Correlation-Id": id]

    @Test func aPurchaseIsRegisteredReadAndLogged() async throws {
        try await Self.serving { url in
            let known = try await Self.call(.PUT, url + "/_simulator/customers/ana+after-50ms@example.test")
            let number = try #require(known.json?["customerId"]?.integer)
            let body = Bench.purchase("2000000700000001", number)
            let refused = try await Self.call(
                .POST, url + Bench.purchases, ["X-Publisher-Token": Bench.token, "Correlation-Id": "7"], body)
            #expect(refused.status == 400)
            #expect(refused.json?["code"] == .string("REQ0004"))
            let started = try await Self.call(.POST, url + Bench.purchases, Self.token, body)
            #expect(started.status == 202)
            #expect(started.json == .object(["synchronizationId": .string(Self.id)]))
            let path = "\(url)/storekit2/purchases/synchronizations/\(Self.id)"
            var read = try await Self.call(.GET, path, Self.token)
            let limit = ContinuousClock.now + .seconds(180)
            while read.json?["status"] == .string("processing"), ContinuousClock.now < limit {
                try await Task.sleep(for: .milliseconds(20))
                read = try await Self.call(.GET, path, Self.token)
            }
            #expect(read.status == 200)
            #expect(
                read.json
                    == .object([
                        "status": .string("finalized"), "result": .string("PURCHASE_REGISTERED"),
                        "accessGranted": .bool(true), "offerId": .string("S123456789_US"),
                    ]))
            #expect(try await Self.call(.GET, path).status == 401)
            let log = try await Self.call(.GET, url + "/_simulator/requests?path=" + Bench.purchases)
            guard case .array(let items) = log.json?["items"], items.count > 3 else {
                Issue.record("no log")
                return
            }
            #expect(items[1]["headers"]?["correlation-id"] == .string(Self.id))
            #expect(items[1]["status"] == .int(202))
            #expect(items[1]["publisherToken"] == .string("present"))
            #expect(!String(decoding: AnyJSON.bytes(of: log.json), as: UTF8.self).contains(Bench.token))
        }
    }

    /// Runs a simulator of its own while the body does.
    private static func serving(_ body: (String) async throws -> Void) async throws {
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let server = SimulatorServer(
            Simulator(settings: SimulatorSettings(), publisherToken: Bench.token, identity: .named))
        let running = Task { try await server.run { ready.yield($0) } }
        defer { running.cancel() }
        let url = try #require(await addresses.first { _ in true })
        try await body(url)
    }

    private static func call(
        _ method: HTTPMethod, _ url: String, _ headers: [String: String] = [:], _ body: String = ""
    ) async throws -> (status: Int, json: AnyJSON?) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        let bytes = try await response.body.collect(upTo: 1_024 * 1_024)
        return (Int(response.status.code), AnyJSON.parse(bytes.readableBytesView))
    }
}
