/// A bound on calls that run at once, for each tenant. Those over it wait in order of arrival.
actor CallLimit<Tenant: Hashable & Sendable> {
    private let each: Int
    private var running: [Tenant: Int] = [:]
    private var waiters: [Tenant: [CheckedContinuation<Void, Never>]] = [:]

    init(each: Int) { self.each = each }

    /// A cancelled task waits for its place too: what holds the places is cancelled with it, or bounded by timeouts.
    func call<Value: Sendable>(for tenant: Tenant, _ body: @Sendable () async -> Value) async -> Value {
        if running[tenant, default: 0] < each {
            running[tenant, default: 0] += 1
        } else {
            await withCheckedContinuation { waiters[tenant, default: []].append($0) }
        }
        let value = await body()
        if var queue = waiters[tenant], !queue.isEmpty {
            // The place passes on.
            queue.removeFirst().resume()
            waiters[tenant] = queue.isEmpty ? nil : queue
        } else {
            running[tenant, default: 1] -= 1
            if running[tenant] == 0 { running[tenant] = nil }
        }
        return value
    }
}
