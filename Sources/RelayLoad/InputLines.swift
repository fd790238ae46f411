import Foundation

/// What whoever drives this command says to it.
enum InputLines {
    /// Lines of standard input, until it ends.
    static func stream() -> AsyncStream<String> {
        AsyncStream { stream in
            Thread.detachNewThread {
                while let line = readLine() { stream.yield(line) }
                stream.finish()
            }
        }
    }
}
