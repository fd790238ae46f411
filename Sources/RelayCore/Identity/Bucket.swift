/// The shard key: one of 256, computed from a key that a row is looked up by. It leads every primary key of the hot
/// tables, so that the same schema runs on one PostgreSQL and on a sharded one.
public struct Bucket: Hashable, Sendable {
    public static let count = 256
    public let number: UInt8

    public init(number: UInt8) {
        self.number = number
    }

    /// FNV-1a over the parts, each closed by a zero byte, folded to eight bits. It is written into rows and public ids: it
    /// can never change.
    public init(of parts: String...) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
            hash = hash &* 0x0000_0100_0000_01b3
        }
        hash ^= hash >> 32
        hash ^= hash >> 16
        self.number = UInt8(truncatingIfNeeded: hash ^ (hash >> 8))
    }

    public init<First, Second>(of first: Identifier<First>, _ second: Identifier<Second>) {
        self.init(of: first.text, second.text)
    }
}
