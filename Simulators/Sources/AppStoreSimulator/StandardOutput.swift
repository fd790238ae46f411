import Foundation

enum StandardOutput {
    /// A line, at once, also where it goes into a file or a pipe: the next one may be hours away.
    static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
