import SimulatorKit

/// Body of `PUT /control/delivery`: how messages are delivered from now on.
struct DeliveryOrder: Sendable, Codable {
    /// Number of additional deliveries of each message.
    var duplicate: Int?
    /// Number of next messages that are never sent.
    var lose: Int?
    /// Whether messages are held until they are released.
    var hold: Bool?

    static let fields = ["duplicate", "lose", "hold"]

    func check() throws(ControlFault) {
        guard (0...100).contains(duplicate ?? 0), (0...1_000_000).contains(lose ?? 0) else {
            throw .invalid("duplicate is 0 to 100, lose is 0 to 1000000")
        }
    }
}

/// Body of `POST /control/delivery/release`.
struct ReleaseOrder: Sendable, Decodable {
    var shuffle: Bool?
    var seed: UInt64?

    static let fields = ["shuffle", "seed"]
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
