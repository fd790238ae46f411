/// Places for work that runs at once, shared by tenants. One whose work is slow takes no place that the others need.
struct SharedPlaces<Tenant: Hashable & Sendable>: Sendable {
    private let total: Int
    private let each: Int
    private let reserved: Int
    private var taken: [Tenant: Int] = [:]
    private var sum = 0

    /// - Parameters:
    ///   - total: of all tenants.
    ///   - each: of one tenant at most.
    ///   - reserved: of the total, for tenants that have no place yet.
    init(total: Int, each: Int, reserved: Int) {
        self.total = total
        self.each = each
        self.reserved = reserved
    }

    /// - Returns: how many more places the tenant may take, if no other takes one.
    func free(for tenant: Tenant) -> Int {
        let own = taken[tenant] ?? 0
        let shared = max(total - reserved - sum, 0)
        let first = own == 0 && sum < total ? 1 : 0
        return max(min(each - own, max(shared, first)), 0)
    }

    /// Takes a place.
    ///
    /// - Returns: false if there is none.
    mutating func enter(_ tenant: Tenant) -> Bool {
        guard free(for: tenant) > 0 else { return false }
        taken[tenant, default: 0] += 1
        sum += 1
        return true
    }

    /// Gives a place back.
    mutating func leave(_ tenant: Tenant) {
        guard let count = taken[tenant] else { return }
        taken[tenant] = count > 1 ? count - 1 : nil
        sum -= 1
    }
}
