import NIOConcurrencyHelpers

/// Gathers elements from concurrent callers into batches, so that many share one statement and one commit.
///
/// Batches form by themselves: what arrives while one is in flight goes into the next. There is no timer, so an element that
/// comes alone is not delayed. Two elements with an equal key are never in one batch nor in two that run at once, and keep
/// their order.
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
        /// Tasks that take batches; one takes many in turn.
        var runners = 0
    }

    let state: NIOLockedValueBox<State>
    private let size: @Sendable (Element) -> Int
    private let key: (@Sendable (Element) -> BatchKey)?
    let flush: @Sendable ([Element]) async throws -> [Result<Output, any Error>]

    /// - Parameters:
    ///   - maxCount: the most elements in a batch.
    ///   - maxBytes: the most that the sizes in a batch come to; one element that is larger goes alone.
    ///   - concurrentBatches: how many batches may be in flight.
    ///   - maxWaiting: how many elements may wait; one more fails as ``PostgresError/Code/overloaded``.
    ///   - size: of an element, in bytes.
    ///   - flush: writes a batch and returns one result for each element, in the same order.
    public convenience init(
        maxCount: Int, maxBytes: Int = .max, concurrentBatches: Int = 1, maxWaiting: Int = 4096,
        size: @escaping @Sendable (Element) -> Int = { _ in 1 },
        flush: @escaping @Sendable ([Element]) async throws -> [Result<Output, any Error>]
    ) {
        self.init(
            maxCount: maxCount, maxBytes: maxBytes, concurrentBatches: concurrentBatches, maxWaiting: maxWaiting,
            size: size, batchKey: nil, flush: flush)
    }

    /// The same, where some elements must not share a batch: elements for which `key` is equal are never in one batch, nor in two
    /// that run at once, and keep their order.
    public convenience init(
        maxCount: Int, maxBytes: Int = .max, concurrentBatches: Int = 1, maxWaiting: Int = 4096,
        size: @escaping @Sendable (Element) -> Int = { _ in 1 },
        key: @escaping @Sendable (Element) -> some Hashable & SendableMetatype,
        flush: @escaping @Sendable ([Element]) async throws -> [Result<Output, any Error>]
    ) {
        self.init(
            maxCount: maxCount, maxBytes: maxBytes, concurrentBatches: concurrentBatches, maxWaiting: maxWaiting,
            size: size, batchKey: { BatchKey(key($0)) }, flush: flush)
    }

    private init(
        maxCount: Int, maxBytes: Int, concurrentBatches: Int, maxWaiting: Int,
        size: @escaping @Sendable (Element) -> Int, batchKey: (@Sendable (Element) -> BatchKey)?,
        flush: @escaping @Sendable ([Element]) async throws -> [Result<Output, any Error>]
    ) {
        let limits = BatchLimits(
            maxCount: max(1, maxCount), maxBytes: maxBytes, concurrentBatches: max(1, concurrentBatches),
            maxWaiting: maxWaiting)
        self.state = NIOLockedValueBox(State(queue: BatchQueue(limits: limits)))
        self.size = size
        self.key = batchKey
        self.flush = flush
    }

    /// Returns when the element's batch is through.
    ///
    /// - Throws: what `flush` gave for the element; ``PostgresError/Code/overloaded``; `CancellationError` where the task is
    ///   cancelled: an element that still waits is then dropped, one that is in a batch already is written all the same.
    public func submit(_ element: Element) async throws -> Output {
        let size = size(element)
        let key = key?(element)
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
                if state.queue.isIdle { return true }
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

    /// A task that finds no batch ends at once, so one too many does no harm. Detached, for it works for all callers and is not to
    /// carry the task-local values of the one who happened to start it.
    private func startRunner(_ state: inout State) {
        guard state.runners < state.queue.limits.concurrentBatches else { return }
        state.runners += 1
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
    /// Those who may go now.
    mutating func takeDrains() -> [CheckedContinuation<Void, Never>] {
        guard queue.isIdle else { return [] }
        defer { drains = [] }
        return drains
    }
}
