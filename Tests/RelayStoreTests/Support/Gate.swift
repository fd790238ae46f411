/// Admits a few tests at once, in order of arrival: tests run concurrently, and a cluster has a limited number of
/// connections.
actor Gate {
    private var room: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(room: Int) {
        self.room = room
    }

    func enter() async {
        guard room == 0 else {
            room -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        guard !waiting.isEmpty else {
            room += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
