/// A limit of concurrent calls for each tenant. Further calls wait in order of arrival.
actor CallLimit<Tenant: Hashable & Sendable> {
    private let each: Int
    private var running: [Tenant: Int] = [:]
    private var waiters: [Tenant: [CheckedContinuation<Void, Never>]] = [:]

    init(each: Int) { self.each = each }

    /// A cancelled task also waits for its place: the running calls are cancelled with it, or end by their timeouts.
    func call<Value: Sendable>(for tenant: Tenant, _ body: @Sendable () async -> Value) async -> Value {
        if running[tenant, default: 0] < each {
            running[tenant, default: 0] += 1
        } else {
            await withCheckedContinuation { waiters[tenant, default: []].append($0) }
        }
        let value = await body()
        if var queue = waiters[tenant], !queue.isEmpty {
            // The place goes to the next waiter.
            queue.removeFirst().resume()
            waiters[tenant] = queue.isEmpty ? nil : queue
        } else {
            running[tenant, default: 1] -= 1
            if running[tenant] == 0 { running[tenant] = nil }
        }
        return value
    }
}
