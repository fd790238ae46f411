import HTTPTypes
import RelayCore
import Synchronization

/// `X-Request-Id`: under which a request is found in the log.
enum RequestID {
    /// The client's own where it is one that can stand in a log, else a new one.
    static func of(_ headers: HTTPFields) -> String {
        guard let sent = headers[.xRequestID], isSafe(sent) else { return make() }
        return sent
    }

    /// 16 hexadecimal digits: a counter from a random start, its bits mixed (SplitMix64), so that no two of a process are
    /// equal and no request waits for the system's randomness.
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
