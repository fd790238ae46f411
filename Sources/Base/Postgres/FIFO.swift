/// A queue with constant time at both ends.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }

    var isEmpty: Bool { head == elements.count }

    var first: Element? { isEmpty ? nil : elements[head] }

    /// Changes the first element in place.
    mutating func changeFirst(_ change: (inout Element) -> Void) {
        if !isEmpty { elements[head].mutate(change) }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        // Half of the array is gaps, which are removed now. Each element is moved at most once on average.
        if head > 32, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements = elements[head...].filter { element in element.map { !isRemoved($0) } ?? false }
        head = 0
    }

    /// Empties the queue and returns its elements.
    mutating func takeAll() -> [Element] {
        defer { self = FIFO() }
        return elements[head...].compactMap { $0 }
    }
}

extension Optional {
    fileprivate mutating func mutate(_ change: (inout Wrapped) -> Void) {
        // Moves the value out during the change. Otherwise its arrays would be shared, and copied on the first write.
        guard var value = take() else { return }
        change(&value)
        self = value
    }
}
