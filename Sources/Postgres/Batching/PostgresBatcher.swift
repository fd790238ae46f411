import NIOConcurrencyHelpers

/// Gathers elements from concurrent callers into batches, so that many share one statement and one commit.
///
/// Batches form by themselves: one is in flight at a time, and what arrives meanwhile goes into the next. There is no timer, so an
/// element that comes alone is not delayed. With two in flight the batches would be half as large, and under load the process and the
/// server would pay for twice as many statements and commits.
///
/// Where a batch fails although the database is there, it is tried again in halves, down to single elements, so that a bad
/// one fails alone; deadlocks and serialization failures are tried again whole first, up to three times. Hence `flush` may be
/// called again for an element after it has thrown, and must bear it. Where the database is away, or the outcome of the
/// statement is unknown, nothing is tried again: all fail with that error.
public final class PostgresBatcher<Element: Sendable, Output: Sendable>: Sendable {
    enum Slot: Sendable {
        /// Made before the element is in the queue, for a cancellation may come first.
        case announced(isCancelled: Bool)
        case waiting(CheckedContinuation<Output, any Error>)
    }

    struct State: Sendable {
        var queue: BatchQueue<Element>
        var slots: [UInt64: Slot] = [:]
        var lastID: UInt64 = 0
        var drains: [CheckedContinuation<Void, Never>] = []
        /// Whether a task takes batch after batch.
        var isRunning = false
    }

    let state: NIOLockedValueBox<State>
    private let size: @Sendable (Element) -> Int
    private let key: (@Sendable (Element) -> any Hashable)?
    let flush: @Sendable ([Element]) async throws -> [Result<Output, any Error>]

    /// - Parameters:
    ///   - maxCount: the most elements in a batch.
    ///   - maxBytes: the most that the sizes in a batch come to; one element that is larger goes alone.
    ///   - maxWaiting: how many elements may wait; one more fails as ``PostgresError/Code/overloaded``.
    ///   - size: of an element, in bytes.
    ///   - key: elements for which it is equal are never in one batch, and keep their order.
    ///   - flush: writes a batch and returns one result for each element, in the same order.
    public init(
        maxCount: Int, maxBytes: Int = .max, maxWaiting: Int = 4096,
        size: @escaping @Sendable (Element) -> Int = { _ in 1 }, key: (@Sendable (Element) -> any Hashable)? = nil,
        flush: @escaping @Sendable ([Element]) async throws -> [Result<Output, any Error>]
    ) {
        let limits = BatchLimits(
            maxCount: max(1, maxCount), maxBytes: maxBytes, maxWaiting: maxWaiting)
        self.state = NIOLockedValueBox(State(queue: BatchQueue(limits: limits)))
        self.size = size
        self.key = key
        self.flush = flush
    }

    /// Returns when the element's batch is through.
    ///
    /// - Throws: what `flush` gave for the element; ``PostgresError/Code/overloaded``; `CancellationError` where the task is
    ///   cancelled: an element that still waits is then dropped, one that is in a batch already is written all the same.
    public func submit(_ element: Element) async throws -> Output {
        let size = size(element)
        let key = key.map { BatchKey($0(element)) }
        let id = state.withLockedValue { state in
            state.lastID += 1
            state.slots[state.lastID] = .announced(isCancelled: false)
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(BatchQueue.Entry(id: id, element: element, size: size, key: key), continuation)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Elements that wait for a batch.
    public var waiting: Int { state.withLockedValue { $0.queue.waiting.count } }

    /// Returns when nothing waits and nothing is in flight.
    public func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLockedValue { state in
                if state.isIdle { return true }
                state.drains.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func add(_ entry: BatchQueue<Element>.Entry, _ continuation: CheckedContinuation<Output, any Error>) {
        let refusal = state.withLockedValue { state -> (any Error)? in
            if case .announced(isCancelled: true) = state.slots[entry.id] {
                state.slots[entry.id] = nil
                return CancellationError()
            }
            guard state.queue.add(entry) else {
                state.slots[entry.id] = nil
                return PostgresError(.overloaded, "too many elements wait to be written")
            }
            state.slots[entry.id] = .waiting(continuation)
            startRunner(&state)
            return nil
        }
        if let refusal { continuation.resume(throwing: refusal) }
    }

    /// Detached, for it works for all callers and is not to carry the task-local values of the one who happened to start it.
    private func startRunner(_ state: inout State) {
        guard !state.isRunning else { return }
        state.isRunning = true
        Task.detached { await self.run() }
    }

    private func cancel(_ id: UInt64) {
        let (continuation, drains) = state.withLockedValue {
            state -> (CheckedContinuation<Output, any Error>?, [CheckedContinuation<Void, Never>]) in
            switch state.slots[id] {
            case .announced:
                state.slots[id] = .announced(isCancelled: true)
                return (nil, [])
            case .waiting(let continuation):
                state.slots[id] = nil
                _ = state.queue.remove(id)
                return (continuation, state.takeDrains())
            case nil: return (nil, [])
            }
        }
        continuation?.resume(throwing: CancellationError())
        for drain in drains { drain.resume() }
    }
}

extension PostgresBatcher.State {
    var isIdle: Bool { queue.waiting.isEmpty && !isRunning }

    /// Those who may go now.
    mutating func takeDrains() -> [CheckedContinuation<Void, Never>] {
        guard isIdle else { return [] }
        defer { drains = [] }
        return drains
    }
}
