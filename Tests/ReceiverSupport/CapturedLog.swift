public import Logging
import NIOConcurrencyHelpers

/// All log entries, of every level.
public struct CapturedLog: LogHandler {
    private let captured = NIOLockedValueBox<[String]>([])
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level = .trace

    public init() {}

    public var lines: [String] { captured.withLockedValue { $0 } }

    public var logger: Logger {
        var logger = Logger(label: "store") { _ in self }
        logger.logLevel = .trace
        return logger
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        captured.withLockedValue { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}
