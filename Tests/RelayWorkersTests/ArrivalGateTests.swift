import RelayCore
import Testing

@testable import Relay

@Suite("Claims on arrival")
struct ArrivalGateTests {
    /// A class, so that an expectation may change it.
    private final class Gate {
        var gate = ArrivalGate()
        func reserve(_ route: UpstreamRoute, room: Int) -> Bool { gate.reserve(route, available: room) }
    }

    private func drained() -> Gate {
        let drained = Gate()
        drained.gate.open()
        for route in UpstreamRoute.allCases {
            drained.gate.claimed(route, isDrained: true, since: drained.gate.mark)
        }
        return drained
    }

    @Test("start after a claim has found the table empty, and end with the process")
    func begins() {
        let one = Gate()
        one.gate.open()
        #expect(!one.reserve(.payments, room: 9))
        let other = drained()
        #expect(other.reserve(.payments, room: 9))
        other.gate.close()
        #expect(!other.reserve(.payments, room: 9))
    }

    @Test("use places, and release them")
    func places() {
        let one = drained()
        #expect(one.reserve(.payments, room: 2) && one.reserve(.payments, room: 1))
        #expect(one.gate.reserved(.payments) == 2 && one.gate.reserved(.registrations) == 0)
        one.gate.release(.payments)
        #expect(one.gate.reserved(.payments) == 1)
    }

    @Test("wait after one without a place, until a later claim has left none")
    func order() {
        let one = drained()
        let early = one.gate.mark
        #expect(!one.reserve(.payments, room: 0))
        #expect(!one.reserve(.payments, room: 5))
        #expect(one.reserve(.registrations, room: 5))
        // The claim may not have seen the refused purchase.
        one.gate.claimed(.payments, isDrained: true, since: early)
        #expect(!one.reserve(.payments, room: 5))
        one.gate.claimed(.payments, isDrained: true, since: one.gate.mark)
        #expect(one.reserve(.payments, room: 5))
        one.gate.claimed(.payments, isDrained: false, since: one.gate.mark)
        #expect(!one.reserve(.payments, room: 5))
    }
}
