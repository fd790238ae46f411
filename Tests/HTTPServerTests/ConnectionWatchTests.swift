import NIOConcurrencyHelpers
import Testing

@testable import HTTPServer

@Suite("A client that disconnects")
struct ConnectionWatchTests {
    private func counter() -> (count: @Sendable () -> Int, up: @Sendable () -> Void) {
        let box = NIOLockedValueBox(0)
        return ({ box.withLockedValue { $0 } }, { box.withLockedValue { $0 += 1 } })
    }

    @Test("is reported once to the held poll")
    func held() {
        let watch = ConnectionWatch()
        let (count, up) = counter()
        #expect(watch.hold(up))
        #expect(watch.clientLeft())
        #expect(!watch.clientLeft())
        #expect(count() == 1)
    }

    // A client sends its request and its FIN at once: the FIN arrives before the handler begins to hold the poll.
    @Test("before the hold is reported by the hold")
    func before() {
        let watch = ConnectionWatch()
        let (count, up) = counter()
        #expect(!watch.clientLeft())
        #expect(!watch.hold(up))
        #expect(count() == 0)
    }

    @Test("after the hold is not reported")
    func after() {
        let watch = ConnectionWatch()
        let (count, up) = counter()
        #expect(watch.hold(up))
        watch.release()
        #expect(!watch.clientLeft())
        #expect(count() == 0)
    }
}
