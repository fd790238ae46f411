/// Receipts that begin like a sealed value.
enum BytesThatLookSealed {
    private static let mark: [UInt8] = [0] + Array("sealed".utf8)

    /// The number of a data key, followed by `rest` bytes.
    static func bytes(number: [UInt8], rest: Int) -> [UInt8] {
        mark + number + (0..<rest).map { UInt8(truncatingIfNeeded: $0 * 37) }
    }

    static let all: [[UInt8]] = [
        mark, mark + [0], mark + [0, 0, 0], bytes(number: [0, 0, 0, 1], rest: 0), bytes(number: [0, 0, 0, 1], rest: 1),
        bytes(number: [0, 0, 0, 1], rest: 28), bytes(number: [0, 0, 0, 1], rest: 3_000),
        bytes(number: [0, 0, 0, 0], rest: 40), bytes(number: [0, 0, 0, 9], rest: 40),
        bytes(number: [0xff, 0xff, 0xff, 0xff], rest: 40), bytes(number: [0x80, 0, 0, 0], rest: 40),
    ]
}
