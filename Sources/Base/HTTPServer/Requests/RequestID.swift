import Formats
import HTTPTypes
import Synchronization

/// `X-Request-Id`: id of a request in the log.
enum RequestID {
    /// The client's id if it is safe for a log, else a new one.
    static func of(_ headers: HTTPFields) -> String {
        guard let sent = headers[.xRequestID], isSafe(sent) else { return make() }
        return sent
    }

    /// Makes 16 hexadecimal digits from a counter with a random start, whose bits are mixed (SplitMix64). So a process
    /// never repeats one, and no request waits for the system's random numbers.
    static func make() -> String {
        var bits = counter.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        bits ^= bits >> 31
        return Hex.text(of: bits)
    }

    private static let counter = Atomic<UInt64>(.random(in: .min ... .max))

    static func isSafe(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfID)
    }
}
