import NIOConcurrencyHelpers

extension PostgresBatcher {
    /// How often a whole batch is retried after a deadlock or a serialization failure.
    private static var wholeRetries: Int { 3 }

    /// Writes batch after batch until the queue is empty.
    func run() async {
        while true {
            let (batch, drains) = state.withLockedValue { state in
                let batch = state.queue.next()
                state.isRunning = !batch.isEmpty
                return (batch, state.takeDrains())
            }
            for drain in drains { drain.resume() }
            guard !batch.isEmpty else { return }
            await write(batch[...])
        }
    }

    /// Writes a batch and delivers each element's result. Returns an error that every other element would also get.
    @discardableResult
    private func write(_ batch: ArraySlice<BatchQueue<Element>.Entry>) async -> (any Error)? {
        do {
            let results = try await flushPatiently(batch.map(\.element))
            // A flush with a wrong number of results is a bug: a retry would only write twice.
            let mismatch = PostgresError(.decoding, "a flush must return one result for each element")
            let isMatch = results.count == batch.count
            for (index, entry) in batch.enumerated() {
                deliver(entry.id, isMatch ? results[index] : .failure(mismatch))
            }
            return nil
        } catch {
            guard batch.count > 1, Self.mayDependOnOneElement(error) else {
                for entry in batch { deliver(entry.id, .failure(error)) }
                return Self.mayDependOnOneElement(error) ? nil : error
            }
            let middle = batch.startIndex + batch.count / 2
            if let reason = await write(batch[..<middle]) {
                for entry in batch[middle...] { deliver(entry.id, .failure(reason)) }
                return reason
            }
            return await write(batch[middle...])
        }
    }

    private func flushPatiently(_ elements: [Element]) async throws -> [Result<Output, any Error>] {
        var retries = 0
        while true {
            do {
                return try await flush(elements)
            } catch let error as PostgresError where error.isTransient && !error.isUnavailable {
                guard retries < Self.wholeRetries else { throw error }
                retries += 1
            }
        }
    }

    /// False for an error that every element would meet.
    private static func mayDependOnOneElement(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return !(error is CancellationError) }
        let isCommon = [.overloaded, .cancelled, .timedOut].contains(error.code)
        return !error.isUnavailable && !error.outcomeUnknown && !isCommon
    }

    private func deliver(_ id: UInt64, _ result: Result<Output, any Error>) {
        let slot = state.withLockedValue { $0.slots.removeValue(forKey: id) }
        if case .waiting(let continuation) = slot { continuation.resume(with: result) }
    }
}
