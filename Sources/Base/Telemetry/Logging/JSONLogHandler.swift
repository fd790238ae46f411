public import Formats
public import Logging

/// Writes each log event as one line of JSON.
///
///     {"timestamp":"2026-11-20T10:00:00.000Z","level":"info","logger":"relay","message":"…","request_id":"…"}
///
/// Metadata follows the message, sorted by key. A nested dictionary is flattened under dotted keys. A key that the line
/// itself uses gets the prefix `metadata.`. Integers, floating-point numbers and booleans given as `stringConvertible`
/// keep their type; everything else is text.
///
/// No text can end the line or forge a second one. No line is longer than ``maximumLineBytes``: values are cut with an
/// ellipsis. If entries had to be left out, the line says `"truncated":true`.
public struct JSONLogHandler: LogHandler {
    /// Longest line in bytes, including its newline.
    public static let maximumLineBytes = 8192

    static let maximumMessageBytes = 4096
    static let maximumValueBytes = 1024
    static let maximumKeyBytes = 128
    static let ending: StaticString = ",\"truncated\":true}\n"

    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let sink: any LogSink
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - metadataProvider: metadata from the task, such as a trace id.
    ///   - now: the clock of the timestamps, in milliseconds since 1970.
    public init(
        label: String,
        level: Logger.Level = .info,
        sink: any LogSink = FileDescriptorSink.standardOutput,
        metadataProvider: Logger.MetadataProvider? = nil,
        now: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970 }
    ) {
        self.label = label
        self.logLevel = level
        self.sink = sink
        self.metadataProvider = metadataProvider
        self.now = now
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var line = JSONLine()
        line.append("{\"timestamp\":\"")
        line.append(millisecondsSince1970: now())
        line.append("\",\"level\":\"")
        line.append(verbatim: event.level.rawValue)
        line.append("\",\"logger\":")
        line.append(string: label, limit: Self.maximumKeyBytes)
        line.append(",\"message\":")
        line.append(string: event.message.description, limit: Self.maximumMessageBytes)
        var complete = true
        if let error = event.error {
            let text: Logger.MetadataValue = .string(String(describing: error))
            complete = line.append(FlatMetadata.Entry(key: "error", value: text))
        }
        if let flat = flatMetadata(of: event) {
            complete = complete && flat.isComplete
            for entry in flat.entries where !line.append(entry) {
                complete = false
            }
        }
        line.append(complete ? "}\n" : Self.ending)
        line.bytes.withUnsafeBytes { sink.write($0) }
    }

    private func flatMetadata(of event: LogEvent) -> FlatMetadata? {
        var merged = metadata
        if let provided = metadataProvider?.get(), !provided.isEmpty {
            merged.merge(provided) { _, new in new }
        }
        if let given = event.metadata, !given.isEmpty {
            merged.merge(given) { _, new in new }
        }
        return merged.isEmpty ? nil : FlatMetadata(merged, errorIsTaken: event.error != nil)
    }
}

/// Where finished log lines go.
public protocol LogSink: Sendable {
    /// Accepts one whole line, including its newline. Called from many threads at once; must not call the logger.
    func write(_ line: UnsafeRawBufferPointer)
}
