import Foundation
import Logging
import NIOConcurrencyHelpers
import Telemetry
import Testing

struct FileDescriptorSinkTests {
    /// Eight threads write lines that are longer than a pipe's atomic size while the reader lags. Without the sink's
    /// own lock, another thread's line would interrupt a line that fills the pipe.
    @Test func linesOfSeveralThreadsNeverInterleave() async throws {
        let pipe = Pipe()
        let sink = FileDescriptorSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let writers = (0..<8).map { number in
            Thread {
                let letter = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(number)))
                let logger = Logger(label: "t") { JSONLogHandler(label: $0, sink: sink) }
                for _ in 0..<100 {
                    let value = Logger.MetadataValue.string(String(repeating: letter, count: 1000))
                    logger.info(
                        "m", metadata: ["1": value, "2": value, "3": value, "4": value, "5": value, "6": value])
                }
            }
        }
        for writer in writers { writer.start() }
        // Reading blocks, so it runs on a thread that other tests do not need.
        let bytes = await withCheckedContinuation { continuation in
            Thread {
                var bytes: [UInt8] = []
                var count = 0
                while count < 800 {
                    let chunk = pipe.fileHandleForReading.availableData
                    count += chunk.count { $0 == UInt8(ascii: "\n") }
                    bytes += chunk
                }
                continuation.resume(returning: bytes)
            }.start()
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: String]
            let values = Set((1...6).compactMap { object?["\($0)"] })
            #expect(values.count == 1)
        }
    }

    @Test func aClosedDescriptorLosesLinesAndNothingElse() {
        let sink = FileDescriptorSink(descriptor: -1)
        let logger = Logger(label: "t") { JSONLogHandler(label: $0, sink: sink) }
        logger.info("one")
        logger.info("two")
    }
}
