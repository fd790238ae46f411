import Synchronization

/// Budget of the bytes of request bodies that the process holds at once, over all connections. It bounds memory: large
/// bodies are refused in a flood, while small ones still fit.
package final class BodyBudget: Sendable {
    let limit: Int
    private let held = Atomic<Int>(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// Bytes held now.
    package var bytes: Int { held.load(ordering: .relaxed) }

    fileprivate func take(_ count: Int) -> Bool {
        guard held.add(count, ordering: .relaxed).newValue <= limit else {
            held.subtract(count, ordering: .relaxed)
            return false
        }
        return true
    }

    fileprivate func giveBack(_ count: Int) {
        held.subtract(count, ordering: .relaxed)
    }
}

/// One request's part of the budget. It grows with the bytes that arrive: an announced length alone takes no space.
package final class BodyLoan: Sendable {
    private let budget: BodyBudget
    private let taken = Atomic<Int>(0)

    package init(_ budget: BodyBudget) {
        self.budget = budget
    }

    /// - Throws: ``Problem`` 503 if there is no space left.
    func grow(by count: Int) throws(Problem) {
        guard budget.take(count) else {
            throw Problem(.overloaded, "too many bodies are being read; send the same request again")
                .closingConnection()
        }
        taken.add(count, ordering: .relaxed)
    }

    /// Releases the bytes. Call it when no byte of the body is needed any more.
    package func end() {
        budget.giveBack(taken.exchange(0, ordering: .relaxed))
    }
}
