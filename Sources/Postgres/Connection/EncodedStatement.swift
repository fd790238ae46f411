/// A statement ready to be handed to libpq, which wants one pointer for each parameter: the values lie end to end in one
/// block of memory.
struct EncodedStatement: Sendable {
    let key: StatementKey
    var isPrepared: Bool
    /// Where each value begins in `bytes`; nil is NULL.
    let offsets: [Int?]
    let lengths: [Int32]
    /// All binary.
    let formats: [Int32]
    let bytes: [UInt8]

    /// What the protocol's 16-bit count can say, and what one message may hold with a margin.
    private static let maxParameters = 65_535
    private static let maxBytes = 1 << 29

    /// - Throws: ``PostgresError/Code/invalidQuery``, and what the vault throws.
    init(_ query: SQL, isPrepared: Bool, vault: any PostgresVault) throws {
        let sql = query.text
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.invalidQuery, "the statement has a NUL character in it")
        }
        guard query.parameters.count <= Self.maxParameters else {
            throw PostgresError(.invalidQuery, "a statement takes at most \(Self.maxParameters) parameters")
        }
        // One seal: the key in a row is that of the row's values, even if a new key arrives at this moment.
        let seal = query.parameters.contains(where: \.isPrivate) ? try vault.seal() : NoVault()
        let values = try query.parameters.map { try $0.bytes(seal) }
        let total = values.reduce(sql.utf8.count) { $0 + ($1?.count ?? 0) }
        guard total <= Self.maxBytes else {
            throw PostgresError(.invalidQuery, "a statement and its parameters take at most \(Self.maxBytes) bytes")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(total + 1)
        var offsets: [Int?] = []
        var lengths: [Int32] = []
        for value in values {
            offsets.append(value == nil ? nil : bytes.count)
            lengths.append(Int32(value?.count ?? 0))
            if let value { bytes += value }
        }
        // An empty value needs a pointer too, for libpq takes a null pointer for NULL; so the block is never empty.
        bytes.append(0)
        self.key = StatementKey(sql: sql, types: query.parameters.map(\.type.rawValue))
        self.isPrepared = isPrepared && !query.isPlannedAnew
        self.offsets = offsets
        self.lengths = lengths
        self.formats = [Int32](repeating: 1, count: lengths.count)
        self.bytes = bytes
    }

    /// A statement without parameters that is not worth preparing. `sql` is this library's own.
    init(plain sql: String) {
        self.key = StatementKey(sql: sql, types: [])
        self.isPrepared = false
        self.offsets = []
        self.lengths = []
        self.formats = []
        self.bytes = [0]
    }

    /// The pointers hold for the length of the call.
    func withValues<R>(_ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        bytes.withUnsafeBytes { block in
            body(
                offsets.map { offset in
                    offset.flatMap { block.baseAddress?.advanced(by: $0) }?.assumingMemoryBound(to: CChar.self)
                })
        }
    }
}
