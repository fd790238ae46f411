import Formats
import Foundation
import NIOConcurrencyHelpers
import RelayCore
import TestRun
import Testing

@testable import Webhooks

@Suite("Host names are looked up", .timeLimit(.paced(minutes: 2)))
struct HostDirectoryTests {
    private static let well = [IPAddress("127.0.0.1")].compactMap(\.self)
    private static let other = [IPAddress("127.0.0.2")].compactMap(\.self)

    /// A name server that delays its answers for some names until released, and counts requests.
    final class NameServer: Sendable {
        private let asked = NIOLockedValueBox<[String]>([])
        private let isReleased = NIOLockedValueBox(false)

        var names: [String] { asked.withLockedValue { $0 } }
        func release() { isReleased.withLockedValue { $0 = true } }

        func waits(for host: String) {
            asked.withLockedValue { $0.append(host) }
            while host.hasPrefix("dead"), !isReleased.withLockedValue({ $0 }) { Thread.sleep(forTimeInterval: 0.01) }
        }

        func isAsked(_ count: Int) async throws {
            while names.count < count { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("for each publisher with its own limit: dead names of one do not affect the others")
    func sharedOut() async throws {
        let server = NameServer()
        let directory = HostDirectory(capacity: EndpointCapacity(places: 8, perEndpoint: 4)) { host in
            server.waits(for: host)
            return Self.well
        }
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask { try await directory.addresses(of: "dead\(number).example.com", for: "greedy") }
            }
            try await server.isAsked(4)
            await #expect(throws: WebhookTrouble.busyResolving) {
                try await directory.addresses(of: "well.example.com", for: "greedy")
            }
            #expect(try await directory.addresses(of: "well.example.com", for: "modest") == Self.well)
            // A request for a name that is already being looked up waits for the same answer.
            group.addTask { try await directory.addresses(of: "dead0.example.com", for: "greedy") }
            server.release()
            for try await found in group { #expect(found == Self.well) }
            #expect(server.names.count == 5)
            #expect(try await directory.addresses(of: "dead9.example.com", for: "greedy") == Self.well)
        }
    }

    @Test("expired addresses are used while the name is looked up again, and then no longer")
    func stale() async throws {
        let server = NameServer()
        let directory = HostDirectory(lifetime: .zero, staleFor: .seconds(3_600)) { host in
            let isFirst = server.names.isEmpty
            server.waits(for: isFirst ? "first" : host)
            return isFirst ? Self.well : Self.other
        }
        #expect(try await directory.addresses(of: "dead.example.com", for: "main") == Self.well)
        for _ in 0..<3 { #expect(try await directory.addresses(of: "dead.example.com", for: "main") == Self.well) }
        try await server.isAsked(2)
        #expect(server.names.count == 2, "it is looked up once, and nobody waits")
        server.release()
        while try await directory.addresses(of: "dead.example.com", for: "main") != Self.other {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("without a name server the last addresses are used, if there are any")
    func nobodyToAsk() async throws {
        for (answer, isKept) in [(nil, true), ([IPAddress](), false)] {
            let count = NIOLockedValueBox(0)
            let directory = HostDirectory(lifetime: .zero, staleFor: .seconds(3_600)) { _ in
                let isFirst = count.withLockedValue { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? Self.well : answer
            }
            #expect(try await directory.addresses(of: "shop.example.com", for: "main") == Self.well)
            var last: [IPAddress]?
            repeat {
                last = try? await directory.addresses(of: "shop.example.com", for: "main")
                try await Task.sleep(for: .milliseconds(5))
            } while count.withLockedValue { $0 } < 3 && last != nil
            #expect((last != nil) == isKept)
        }
    }

    @Test("addresses that are too old are not used")
    func tooOld() async throws {
        let count = NIOLockedValueBox(0)
        let directory = HostDirectory(lifetime: .zero, staleFor: .zero) { _ in
            let isFirst = count.withLockedValue { count in
                count += 1
                return count == 1
            }
            return isFirst ? Self.well : nil
        }
        #expect(try await directory.addresses(of: "shop.example.com", for: "main") == Self.well)
        await #expect(throws: WebhookTrouble.unresolved) {
            try await directory.addresses(of: "shop.example.com", for: "main")
        }
    }
}
