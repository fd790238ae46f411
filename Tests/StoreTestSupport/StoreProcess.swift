import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// `store-simulator` as a separate process.
public final class StoreProcess: Sendable {
    public enum Fault: Error {
        case notReady
        case control(Int, String)
    }

    public let url: String
    private let process: Running

    /// Ends the process when its owner is released, so that a failed test leaves none behind.
    private final class Running: @unchecked Sendable {
        // Foundation's class is not Sendable. The process is started before it is shared, and afterwards only queried
        // and ended.
        let process: Process
        init(_ process: Process) { self.process = process }
        deinit { process.terminate() }
    }

    private static var program: URL {
        let folder =
            ProcessInfo.processInfo.environment["RELAY_BIN_DIR"].map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appendingPathComponent("store-simulator")
    }

    private init(url: String, process: Running) {
        self.url = url
        self.process = process
    }

    /// Runs the program to its end.
    ///
    /// - Returns: its exit code.
    public static func run(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Starts a serving process on a free port.
    public static func start(_ arguments: [String]) async throws -> StoreProcess {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments + ["--port", "0"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let running = Running(process)
        // The end of the output ends the wait as well.
        var line = Data()
        let reader = output.fileHandleForReading
        while let next = try reader.read(upToCount: 1), !next.isEmpty, next != Data("\n".utf8) { line += next }
        guard let url = String(decoding: line, as: UTF8.self).split(separator: " ").last, url.hasPrefix("http://")
        else {
            throw Fault.notReady
        }
        return StoreProcess(url: String(url), process: running)
    }

    /// Makes a control call, such as `PUT`, `subscriptions/token-1`, `{"state":"PAUSED"}`.
    @discardableResult
    public func control(_ method: String, _ path: String, _ body: String = "") async throws -> String {
        var request = HTTPClientRequest(url: "\(url)/control/\(path)")
        request.method = .init(rawValue: method)
        request.body = .bytes(ByteBuffer(string: body))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        let text = String(buffer: try await answer.body.collect(upTo: 1 << 20))
        guard (200..<300).contains(answer.status.code) else { throw Fault.control(Int(answer.status.code), text) }
        return text
    }

    /// Its requests in order, in the form `GET /path good answered 200`.
    public func requests() async throws -> [String] {
        struct Page: Decodable {
            struct Item: Decodable {
                let method: String
                let path: String
                let credentials: String
                let outcome: String
                let status: Int?
            }
            let items: [Item]
        }
        let page = try JSONDecoder().decode(Page.self, from: Data(try await control("GET", "requests").utf8))
        return page.items.map { item in
            "\(item.method) \(item.path) \(item.credentials) \(item.outcome)\(item.status.map { " \($0)" } ?? "")"
        }
    }

    public func end() { process.process.terminate() }

    /// Ends the process with SIGTERM, or with SIGKILL if that has no effect.
    ///
    /// - Returns: its exit code.
    public func endAndWait() -> Int32 {
        end()
        let pid = process.process.processIdentifier
        let last = DispatchWorkItem { kill(pid, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: last)
        process.process.waitUntilExit()
        last.cancel()
        return process.process.terminationStatus
    }
}
