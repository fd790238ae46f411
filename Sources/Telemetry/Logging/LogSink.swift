/// Where finished log lines go.
public protocol LogSink: Sendable {
    /// Takes one whole line, its newline included. Called from many threads at once; must not call the logger.
    func write(_ line: UnsafeRawBufferPointer)
}
