import NIOCore
import Synchronization
import Testing

@testable import HTTPServer

@Suite("A body that is still arriving")
struct IncomingBodyTests {
    private struct Trouble: Error {}

    private static func text(_ body: IncomingBody) async throws -> String {
        var text = ""
        for try await part in body { text += String(buffer: part) }
        return text
    }

    @Test("is read in parts, by its first reader")
    func parts() async throws {
        let body = IncomingBody(ByteBuffer(string: "a")) {}
        async let text = Self.text(body)
        for part in ["b", "c", "d"] {
            body.receive(ByteBuffer(string: part))
            await Task.yield()
        }
        body.finish()
        body.finish(throwing: Trouble())
        #expect(try await text == "abcd")
    }

    @Test("ends with its connection")
    func broken() async throws {
        let body = IncomingBody(nil) {}
        let text = Task { try await Self.text(body) }
        body.receive(ByteBuffer(string: "a"))
        body.finish(throwing: Trouble())
        await #expect(throws: Trouble.self) { try await text.value }
    }

    @Test("is full until it is read or discarded")
    func full() async throws {
        let reads = Atomic(0)
        func body(_ count: Int) -> IncomingBody {
            IncomingBody(ByteBuffer(repeating: 1, count: count)) { reads.add(1, ordering: .relaxed) }
        }
        let small = body(65_535)
        #expect(!small.isFull)
        small.receive(ByteBuffer(repeating: 1, count: 1))
        #expect(small.isFull)
        var iterator = small.makeAsyncIterator()
        #expect(try await iterator.next()?.readableBytes == 65_536)
        #expect(!small.isFull && reads.load(ordering: .relaxed) == 1)
        let large = body(70_000)
        large.discard()
        large.receive(ByteBuffer(repeating: 1, count: 70_000))
        #expect(!large.isFull)
    }
}
