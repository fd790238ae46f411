/// A statement in libpq's form. libpq needs one pointer for each parameter, so the values lie end to end in one block
/// of memory.
struct EncodedStatement: Sendable {
    let key: StatementKey
    var isPrepared: Bool
    /// Start of each value in `bytes`; nil is NULL.
    let offsets: [Int?]
    let lengths: [Int32]
    /// All binary.
    let formats: [Int32]
    let bytes: [UInt8]

    /// The protocol counts parameters in 16 bits. `maxBytes` is a safe limit for one message.
    private static let maxParameters = 65_535
    private static let maxBytes = 1 << 29

    /// - Throws: ``PostgresError/Code/invalidQuery``, and errors of the vault.
    init(_ query: SQL, isPrepared: Bool, vault: any PostgresVault) throws {
        let sql = query.text
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.invalidQuery, "the statement has a NUL character in it")
        }
        guard query.parameters.count <= Self.maxParameters else {
            throw PostgresError(.invalidQuery, "a statement takes at most \(Self.maxParameters) parameters")
        }
        // One seal for all values: the key stored in the row must match them, even if a new key arrives now.
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
        // An empty value needs a pointer too, because libpq takes a null pointer for NULL. So the block is never empty.
        bytes.append(0)
        self.key = StatementKey(sql: sql, types: query.parameters.map(\.type.rawValue))
        self.isPrepared = isPrepared && !query.isPlannedAnew
        self.offsets = offsets
        self.lengths = lengths
        self.formats = [Int32](repeating: 1, count: lengths.count)
        self.bytes = bytes
    }

    /// A statement without parameters that is not worth preparing. `sql` comes from this library only.
    init(plain sql: String) {
        self.key = StatementKey(sql: sql, types: [])
        self.isPrepared = false
        self.offsets = []
        self.lengths = []
        self.formats = []
        self.bytes = [0]
    }

    /// The pointers are valid only during the call.
    func withValues<R>(_ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        bytes.withUnsafeBytes { block in
            body(
                offsets.map { offset in
                    offset.flatMap { block.baseAddress?.advanced(by: $0) }?.assumingMemoryBound(to: CChar.self)
                })
        }
    }
}
