/// Places for concurrent work, shared by tenants. A tenant with slow work takes no place that others need.
struct SharedPlaces<Tenant: Hashable & Sendable>: Sendable {
    private let total: Int
    private let each: Int
    private let reserved: Int
    private var taken: [Tenant: Int] = [:]
    private var sum = 0

    /// - Parameters:
    ///   - total: places of all tenants.
    ///   - each: limit for one tenant.
    ///   - reserved: part of the total, for tenants without a place.
    init(total: Int, each: Int, reserved: Int) {
        self.total = total
        self.each = each
        self.reserved = reserved
    }

    /// - Returns: number of places that the tenant may still take.
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

    /// Releases a place.
    mutating func leave(_ tenant: Tenant) {
        guard let count = taken[tenant] else { return }
        taken[tenant] = count > 1 ? count - 1 : nil
        sum -= 1
    }
}
