/// Where a word stands among others on the same thing. Total: of two different words one always stands higher, and it is the
/// same one in whatever order they arrive.
struct LedgerRank: Comparable {
    var toldAt: Timestamp
    /// For words of the same moment.
    var numbers: [Int64]
    var text: String

    static func number(_ flag: Bool?) -> Int64 { flag.map { $0 ? 1 : 2 } ?? 0 }

    static func < (left: LedgerRank, right: LedgerRank) -> Bool {
        if left.toldAt != right.toldAt { return left.toldAt < right.toldAt }
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
