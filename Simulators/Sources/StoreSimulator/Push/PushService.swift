import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import SimulatorKit

/// Wakes the ``PushService``. Signals coalesce until the service waits.
struct PushSignal: Sendable {
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }
}

/// Sends the messages of a simulated store's publisher.
struct PushService<Store: SimulatedStore, Publisher: SimulatedPublisher>: Service {
    let store: LockedService<StoreFront<Store>>
    let publisher: any WritableKeyPath<Store, Publisher> & Sendable
    /// Signalled after every call of the store.
    let signal: PushSignal

    private var timeout: TimeAmount { .seconds(Publisher.rules.timeoutSeconds) }

    func run() async throws {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: timeout, read: timeout),
            connectionPool: .init(
                idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: DeliveryRules.mostAtOnce))
        // A refused connection counts as a failed attempt; the next one follows after a pause.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                // Messages caused by the start options may be waiting already.
                signal.send()
                for await _ in signal.signals {
                    while let attempt = update({ $0.next() }) {
                        group.addTask { await deliver(attempt, with: client) }
                    }
                }
                group.cancelAll()
            }
        }
        try? await client.shutdown()
    }

    private func deliver(_ attempt: Publisher.Attempt, with client: HTTPClient) async {
        let answer = await post(attempt, with: client)
        let next = update { $0.end(attempt, answer) }
        // Another message may be sent now.
        signal.send()
        guard let next, (try? await Task.sleep(for: next.pause)) != nil else { return }
        update { $0.retry(next.delivery) }
        signal.send()
    }

    /// - Returns: nil without an answer.
    private func post(_ attempt: Publisher.Attempt, with client: HTTPClient) async -> PushAnswer? {
        do {
            let push = try Publisher.request(attempt, at: store.now())
            var request = HTTPClientRequest(url: push.url)
            request.method = .POST
            for header in push.headers { request.headers.add(name: header.name, value: header.value) }
            request.body = .bytes(ByteBuffer(bytes: push.body))
            let response = try await client.execute(request, timeout: timeout)
            // The body is read only so that the connection can be reused.
            let body = try? await response.body.collect(upTo: 1_024 * 1_024)
            return PushAnswer(
                status: Int(response.status.code),
                headers: response.headers.map { NamedValue(name: $0.name, value: $0.value) },
                body: Data(body?.readableBytesView ?? ByteBuffer().readableBytesView))
        } catch {
            return nil
        }
    }

    @discardableResult
    private func update<Value>(_ body: (inout Publisher) -> Value) -> Value {
        store.update { body(&$0.store[keyPath: publisher]) }
    }
}
