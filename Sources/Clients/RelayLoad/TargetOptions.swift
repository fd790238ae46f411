import ArgumentParser
import Foundation
import NIOCore

/// Address of the relay, and an API key for it.
struct TargetOptions: ParsableArguments {
    @Option(help: "The address of the app front.")
    var host = "127.0.0.1"

    @Option(help: "The port of the app front.")
    var port: Int

    @Option(help: "A file that holds a key of the role app, and nothing else.")
    var keyFile: String

    func validate() throws {
        guard (1...65_535).contains(port) else { throw ValidationError("--port is 1 to 65535") }
    }

    /// - Throws: ``ValidationError`` if the file cannot be read.
    func client(eventLoop: any EventLoop) throws -> LoadClient {
        LoadClient(host: host, port: port, key: try Self.text(of: keyFile), eventLoop: eventLoop)
    }

    /// A file's text without surrounding white space.
    static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else { throw ValidationError("cannot read \(path)") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// Input from the process that drives this command.
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
