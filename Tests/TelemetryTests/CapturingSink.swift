import NIOConcurrencyHelpers
import Telemetry

final class CapturingSink: LogSink {
    private let captured = NIOLockedValueBox<[[UInt8]]>([])

    var lines: [String] { captured.withLockedValue { $0.map { String(decoding: $0, as: UTF8.self) } } }
    var sizes: [Int] { captured.withLockedValue { $0.map(\.count) } }

    func write(_ line: UnsafeRawBufferPointer) {
        captured.withLockedValue { $0.append(Array(line)) }
    }
}
