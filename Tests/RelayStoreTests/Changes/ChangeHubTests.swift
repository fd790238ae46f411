import RelayCore
import Testing

@testable import Relay

@Suite("Held polls in one process")
struct ChangeHubTests {
    private let far = ContinuousClock.now + .seconds(60)

    private func id(_ number: UInt64) -> ValidationID {
        ValidationID(bucket: Bucket(number: 1), day: 20_000, high: 7, low: number)
    }

    private func validation(_ id: ValidationID, _ status: ValidationStatus = .granted) -> Validation {
        Validation(
            id: id, publisher: "main", app: "a", email: "a@example.test", customer: "a@example.test", offerID: "S1",
            status: status, acceptedAt: Timestamp(seconds: 1), deadline: Timestamp(seconds: 61))
    }

    @Test("a change between registering and waiting is not lost")
    func registerThenPublish() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        hub.publish([validation(id(1))])
        #expect(await waiter.wait(until: far).kind == "granted")
        waiter.leave()
    }

    @Test("of two changes before the wait, the newer one is returned")
    func newestChange() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        hub.publish([validation(id(1), .timedOut)])
        hub.publish([validation(id(1), .granted)])
        #expect(await waiter.wait(until: far).kind == "granted")
        waiter.leave()
    }

    @Test("a change wakes each of its waiters and no other")
    func onlyThose() async {
        let hub = ChangeHub()
        let waiters = [hub.register(id(1)), hub.register(id(1)), hub.register(id(2))]
        #expect(Set(hub.waitedFor) == [id(1), id(2)])
        hub.publish([validation(id(1))])
        #expect(await waiters[0].wait(until: far).kind == "granted")
        #expect(await waiters[1].wait(until: far).kind == "granted")
        #expect(await waiters[2].wait(until: .now).kind == "timeout")
        for waiter in waiters { waiter.leave() }
    }

    @Test("a wait ends at its deadline and not before")
    func timeout() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        let deadline = ContinuousClock.now + .milliseconds(30)
        #expect(await waiter.wait(until: deadline).kind == "timeout")
        #expect(ContinuousClock.now >= deadline)
        waiter.leave()
    }

    @Test("deadlines expire in order, in whatever order they were added")
    func deadlines() async {
        let hub = ChangeHub()
        let start = ContinuousClock.now
        let ended = await withTaskGroup { group in
            for (number, delay) in [60, 20, 40].enumerated() {
                let waiter = hub.register(id(UInt64(number)))
                group.addTask {
                    let deadline = start + .milliseconds(delay)
                    let wake = await waiter.wait(until: deadline)
                    waiter.leave()
                    return wake.kind == "timeout" && ContinuousClock.now >= deadline
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ended == [true, true, true])
        #expect(hub.waiterCount == 0)
    }

    @Test("the deadline of an earlier wait does not end a later one")
    func earlierDeadline() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        let other = hub.register(id(2))
        let soon = ContinuousClock.now + .milliseconds(20)
        async let first = waiter.wait(until: soon)
        hub.publish([validation(id(1), .pending)])
        #expect(await first.kind == "pending")
        let later = soon + .milliseconds(40)
        async let second = waiter.wait(until: later)
        // By then the same timer has fired for this one.
        #expect(await other.wait(until: soon).kind == "timeout")
        #expect(await second.kind == "timeout")
        #expect(ContinuousClock.now >= later)
        waiter.leave()
        other.leave()
    }

    @Test("a wait that is cancelled ends at once, before and while it waits")
    func cancellation() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        let waiting = Task { [far] in await waiter.wait(until: far) }
        waiting.cancel()
        #expect(await waiting.value.kind == "cancelled")
        waiter.wake(.cancelled)
        #expect(await waiter.wait(until: far).kind == "cancelled")
        waiter.leave()
    }

    @Test("a closed client's wait ends as closed, even with a later change")
    func goneBeforeChange() async {
        let hub = ChangeHub()
        let waiter = hub.register(id(1))
        waiter.wake(.cancelled)
        hub.publish([validation(id(1))])
        #expect(await waiter.wait(until: far).kind == "cancelled")
        waiter.leave()
    }

    @Test("a shutdown wakes all waiters, including later and repeated ones")
    func shutdown() async {
        let hub = ChangeHub()
        let early = hub.register(id(1))
        async let waiting = early.wait(until: far)
        hub.shutDown()
        #expect(await waiting.kind == "shutdown")
        #expect(await early.wait(until: far).kind == "shutdown")
        let late = hub.register(id(2))
        #expect(await late.wait(until: far).kind == "shutdown")
        #expect(await late.wait(until: far).kind == "shutdown")
        early.leave()
        late.leave()
        #expect(hub.waiterCount == 0)
    }

    @Test("after a shutdown or a client's departure, every later wait ends at once")
    func lasting() async {
        let hub = ChangeHub()
        let gone = hub.register(id(1))
        let going = hub.register(id(2))
        gone.wake(.cancelled)
        hub.publish([validation(id(1)), validation(id(2))])
        #expect(await going.wait(until: far).kind == "granted")
        hub.shutDown()
        hub.publish([validation(id(1)), validation(id(2))])
        for _ in 0..<2 {
            #expect(await gone.wait(until: far).kind == "cancelled")
            #expect(await going.wait(until: far).kind == "shutdown")
        }
        gone.leave()
        going.leave()
    }

    @Test("a waiter that leaves is removed, also beside others, and if it leaves twice")
    func leaving() {
        let hub = ChangeHub()
        let waiters = (0..<4).map { hub.register(id(UInt64($0 / 2))) }
        #expect(hub.waiterCount == 4)
        waiters[0].leave()
        waiters[0].leave()
        #expect(hub.waiterCount == 3)
        #expect(Set(hub.waitedFor) == [id(0), id(1)])
        for waiter in waiters { waiter.leave() }
        #expect(hub.waiterCount == 0)
        #expect(hub.waitedFor.isEmpty)
    }

    @Test("timers of ended waits do not accumulate, and no pending timer is lost")
    func timers() async {
        let hub = ChangeHub()
        let lasting = hub.register(id(0))
        let deadline = ContinuousClock.now + .seconds(2)
        let isLasting = Task { await lasting.wait(until: deadline).kind }
        while hub.timerCount == 0 { await Task.yield() }
        for number in 1...20_000 {
            let waiter = hub.register(id(UInt64(number)))
            let waiting = Task { [far] in await waiter.wait(until: far).kind }
            while !waiter.isWaiting(until: far) { await Task.yield() }
            hub.publish([validation(waiter.id)])
            #expect(await waiting.value == "granted")
            waiter.leave()
        }
        #expect(hub.timerCount <= 1_024 + 4)
        #expect(await isLasting.value == "timeout")
        #expect(ContinuousClock.now >= deadline)
        lasting.leave()
    }

    @Test("ten thousand are woken, each by its own change")
    func many() async {
        let hub = ChangeHub()
        let ids = (0..<10_000).map { id(UInt64($0)) }
        let waiters = ids.map { hub.register($0) }
        #expect(hub.waiterCount == 10_000)
        let right = await withTaskGroup { group in
            for waiter in waiters {
                group.addTask { [far] in
                    let wake = await waiter.wait(until: far)
                    waiter.leave()
                    return wake.changed?.id == waiter.id
                }
            }
            for start in stride(from: 0, to: ids.count, by: 100) {
                hub.publish(ids[start..<start + 100].map { validation($0) })
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 10_000)
        #expect(hub.waiterCount == 0)
    }
}
