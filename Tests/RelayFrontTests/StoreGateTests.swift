import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Calls to stores")
struct StoreGateTests {
    private static let query = ExternalStoreQuery(.amazon, id: "receipt", detail: "user")

    /// Answers when the test says so.
    private actor SlowStore: ExternalStore {
        private var waiting: [CheckedContinuation<ExternalStoreAnswer, Never>] = []
        private let asked: AsyncStream<Void>.Continuation

        init(asked: AsyncStream<Void>.Continuation) { self.asked = asked }

        func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
            await withCheckedContinuation {
                waiting.append($0)
                asked.yield()
            }
        }

        func answer() {
            for one in waiting { one.resume(returning: .unknown) }
            waiting = []
        }
    }

    private actor Flag {
        private(set) var isSet = false
        func set() { isSet = true }
    }

    @Test func tooManyCallsCountAsAnOutageOfTheStore() async {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let store = SlowStore(asked: continuation)
        let gate = StoreGate(PerPublisher([.amazon: store]), limits: .init(ofShare: 2))
        await withTaskGroup(of: ExternalStoreAnswer.self) { group in
            for _ in 0..<2 { group.addTask { await gate.ask(Self.query, of: "main") } }
            for await _ in asked.prefix(2) {}
            #expect(gate.questions == 2)
            #expect(await gate.ask(Self.query, of: "main") == .tryAgain(after: .seconds(1)))
            #expect(
                await gate.ask(.init(.google, id: "t", detail: "a"), of: "main") == .notConfigured)
            await store.answer()
            for await answer in group { #expect(answer == .unknown) }
            #expect(gate.questions == 0)
            // A place is free again.
            group.addTask { await gate.ask(Self.query, of: "main") }
            for await _ in asked.prefix(1) {}
            await store.answer()
            #expect(await group.next() == .unknown)
        }
    }

    /// Guards against one slow account that takes the places of all.
    @Test func eachPublisherHasItsOwnPlacesAtEachStore() async {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let store = SlowStore(asked: continuation)
        let gate = StoreGate(
            PerPublisher([.amazon: store, .google: store], own: ["nordic": [.amazon: store]]),
            limits: .init(ofShare: 2, ofAll: 5))
        let google = ExternalStoreQuery(.google, id: "t", detail: "a")
        await withTaskGroup(of: ExternalStoreAnswer.self) { group in
            for _ in 0..<2 { group.addTask { await gate.ask(Self.query, of: "main") } }
            for await _ in asked.prefix(2) {}
            #expect(await gate.ask(Self.query, of: "main") == .tryAgain(after: .seconds(1)))
            for _ in 0..<2 { group.addTask { await gate.ask(Self.query, of: "nordic") } }
            group.addTask { await gate.ask(google, of: "main") }
            for await _ in asked.prefix(3) {}
            // All together have a limit too.
            #expect(await gate.ask(google, of: "main") == .tryAgain(after: .seconds(1)))
            #expect(gate.questions == 5)
            await store.answer()
            for await answer in group { #expect(answer == .unknown) }
            #expect(gate.questions == 0)
        }
    }

    @Test func aCancelledCallersCallIsCompleted() async {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let store = SlowStore(asked: continuation)
        let gate = StoreGate(PerPublisher([.amazon: store]))
        let isAccepted = Flag()
        let caller = Task {
            try await gate.finish {
                let answer = await gate.ask(Self.query, of: "main")
                try Task.checkCancellation()
                await isAccepted.set()
                return answer
            }
        }
        for await _ in asked.prefix(1) {}
        caller.cancel()
        async let drained: Void = gate.drain()
        await store.answer()
        await drained
        #expect(await isAccepted.isSet)
        #expect((try? await caller.value) == .unknown)
        // No call is running, so this returns at once.
        await gate.drain()
    }

    @Test func aPublisherWithItsOwnAccessUsesNoOther() async {
        let (_, continuation) = AsyncStream<Void>.makeStream()
        let gate = StoreGate(
            PerPublisher([.amazon: SlowStore(asked: continuation)], own: ["nordic": [:]]), limits: .init(ofShare: 0))
        #expect(await gate.ask(Self.query, of: "nordic") == .notConfigured)
        #expect(await gate.ask(Self.query, of: "main") == .tryAgain(after: .seconds(1)))
    }

    @Test func whatFailsIsToldToItsCaller() async {
        struct Away: Error {}
        let gate = StoreGate(PerPublisher([:]))
        await #expect(throws: Away.self) { try await gate.finish { throw Away() } }
        await gate.drain()
    }
}
