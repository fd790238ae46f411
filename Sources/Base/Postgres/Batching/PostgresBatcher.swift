import NIOConcurrencyHelpers

/// Collects elements from concurrent callers into batches, so that many share one statement and one commit.
///
/// One batch is in flight at a time; elements that arrive meanwhile go into the next. There is no timer, so a single
/// element is not delayed. With two in flight, batches would be half as large. Process and server would then pay for
/// twice as many statements and commits under load.
///
/// If a batch fails although the database is available, it is retried in halves, down to single elements, so that a bad
/// element fails alone. After a deadlock or a serialization failure, the whole batch is retried first, up to three
/// times. Therefore `flush` may be called again for an element after it has thrown. If the database is unavailable, or
/// the outcome of the statement is unknown, nothing is retried: all elements fail with that error.
public final class PostgresBatcher<Element: Sendable, Output: Sendable>: Sendable {
    enum Slot: Sendable {
        /// The element is not queued yet. Stored first, because a cancellation may arrive before the element.
        case announced(isCancelled: Bool)
        case waiting(CheckedContinuation<Output, any Error>)
    }

    struct State: Sendable {
        var queue: BatchQueue<Element>
        var slots: [UInt64: Slot] = [:]
        var lastID: UInt64 = 0
        var drains: [CheckedContinuation<Void, Never>] = []
        /// Whether a task is writing batches.
        var isRunning = false
    }

    let state: NIOLockedValueBox<State>
    private let size: @Sendable (Element) -> Int
    private let keys: @Sendable (Element) -> [any Hashable]
    let flush: @Sendable ([Element]) async throws -> [Result<Output, any Error>]

    /// - Parameters:
    ///   - maxCount: the most elements in a batch.
    ///   - maxBytes: limit of the summed sizes in a batch; a larger element goes alone.
    ///   - maxWaiting: limit of waiting elements; one more fails as ``PostgresError/Code/overloaded``.
    ///   - size: size of an element, in bytes.
    ///   - keys: elements that share a key are never in one batch, and keep their order.
    ///   - flush: writes a batch and returns one result for each element, in the same order.
    public init(
        maxCount: Int, maxBytes: Int = .max, maxWaiting: Int = 4096,
        size: @escaping @Sendable (Element) -> Int = { _ in 1 },
        keys: @escaping @Sendable (Element) -> [any Hashable] = { _ in [] },
        flush: @escaping @Sendable ([Element]) async throws -> [Result<Output, any Error>]
    ) {
        let limits = BatchLimits(
            maxCount: max(1, maxCount), maxBytes: maxBytes, maxWaiting: maxWaiting)
        self.state = NIOLockedValueBox(State(queue: BatchQueue(limits: limits)))
        self.size = size
        self.keys = keys
        self.flush = flush
    }

    /// Returns when the element's batch is written.
    ///
    /// - Throws: the element's error from `flush`; ``PostgresError/Code/overloaded``; `CancellationError` if the task
    ///   is cancelled. A waiting element is then dropped; one already in a batch is still written.
    public func submit(_ element: Element) async throws -> Output {
        let size = size(element)
        let keys = keys(element).map { BatchKey($0) }
        let id = state.withLockedValue { state in
            state.lastID += 1
            state.slots[state.lastID] = .announced(isCancelled: false)
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(BatchQueue.Entry(id: id, element: element, size: size, keys: keys), continuation)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Number of elements that wait for a batch.
    var waiting: Int { state.withLockedValue { $0.queue.waiting.count } }

    /// Returns when the queue is empty and no batch is in flight.
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

    /// Detached, because it works for all callers and must not inherit one caller's task-local values.
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

    /// Drain callers that can resume now.
    mutating func takeDrains() -> [CheckedContinuation<Void, Never>] {
        guard isIdle else { return [] }
        defer { drains = [] }
        return drains
    }
}
