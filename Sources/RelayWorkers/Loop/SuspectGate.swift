import NIOConcurrencyHelpers
import RelayCore
import RelayStore

/// Lets one item at a time through of those that may have ended their processes: should one do so again, its neighbours are spared.
struct SuspectGate: Sendable {
    private let current = NIOLockedValueBox<ClaimedRow.Key?>(nil)

    /// Gives back the suspects that have to wait, with the strikes that they had.
    ///
    /// - Returns: what may be worked on now. Each is to ``leave(_:)``.
    func admit<Item: ClaimedItem>(_ items: [Item], _ store: RelayStore) async throws -> [Item] {
        let suspects = items.filter(\.row.record.isSuspect)
        guard !suspects.isEmpty else { return items }
        let chosen: ClaimedRow.Key? = current.withLockedValue { current in
            guard current == nil else { return nil }
            current = suspects[0].row.key
            return current
        }
        let waiting = suspects.filter { $0.row.key != chosen }
        do {
            try await store.giveBack(waiting.map(\.row), after: .seconds(1), keepsStrikes: true)
        } catch {
            for item in items { leave(item) }
            await store.interrupted(items.map(\.row), by: error)
            throw error
        }
        return items.filter { !$0.row.record.isSuspect || $0.row.key == chosen }
    }

    func leave(_ item: some ClaimedItem) { current.withLockedValue { if $0 == item.row.key { $0 = nil } } }
}
