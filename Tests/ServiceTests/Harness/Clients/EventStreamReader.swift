import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Reads a validation's server-sent events as they arrive.
struct EventStreamReader: Sendable {
    struct Event: Sendable {
        var name: String
        var json: JSON
        var at: ContinuousClock.Instant
    }

    var contentType: String?
    /// All events until the server ended the stream.
    var events: [Event] = []
    var text = ""

    /// Reads until the stream ends.
    ///
    /// - Parameter onEvent: called for each event on arrival.
    static func read(
        _ relay: Relay, _ id: String, by client: HTTPClient = .shared,
        onEvent: (Event) async throws -> Void = { _ in }
    ) async throws -> EventStreamReader {
        var request = HTTPClientRequest(url: relay.url + "/entitlements/\(id)")
        request.headers.add(name: "Authorization", value: "Bearer \(relay.keys.app)")
        request.headers.add(name: "Accept", value: "text/event-stream")
        let response = try await client.execute(request, timeout: .seconds(60))
        var reader = EventStreamReader(contentType: response.headers.first(name: "Content-Type"))
        var rest = ""
        for try await chunk in response.body {
            let text = String(buffer: chunk)
            reader.text += text
            rest += text
            while let end = rest.range(of: "\n\n") {
                let block = rest[..<end.lowerBound]
                rest = String(rest[end.upperBound...])
                guard let event = event(block) else { continue }
                reader.events.append(event)
                try await onEvent(event)
            }
        }
        return reader
    }

    private static func event(_ block: Substring) -> Event? {
        func field(_ name: String) -> Substring? {
            block.split(separator: "\n").first { $0.hasPrefix("\(name): ") }?.dropFirst(name.count + 2)
        }
        guard let data = field("data"), let json = try? JSON(data: Data(data.utf8)) else { return nil }
        return Event(name: field("event").map(String.init) ?? "message", json: json, at: .now)
    }
}
