import Postgres

extension Error {
    /// Whether the data itself is to blame, so that no other try will do better: data exceptions (22), broken constraints
    /// (23), limits of the server (54), and rows that this version cannot read or does not find. A right that is missing or a
    /// table that is not there is our own fault, and blames no row; all else passes.
    package var isForGood: Bool {
        guard let error = self as? PostgresError else { return self is StoreError }
        if [.decoding, .invalidQuery].contains(error.code) { return true }
        return ["22", "23", "54"].contains { error.sqlState?.hasPrefix($0) == true } && !error.isTransient
    }

    /// Whether a row that could not be processed may be to blame: not for a database that is away, and not for a shutdown.
    var countsAgainstRow: Bool { isForGood || !(self is PostgresError || self is CancellationError) }
}
