import RelayCore
import Testing

@testable import Relay

@Suite("Cached settled answers")
struct ValidationCacheTests {
    private let now = ContinuousClock.now

    private func id(_ number: UInt64, bucket: UInt8 = 1) -> ValidationID {
        ValidationID(bucket: Bucket(number: bucket), day: 20_000, high: 7, low: number)
    }

    private func known(_ id: ValidationID, _ status: ValidationStatus = .granted) -> KnownValidation {
        KnownValidation(
            Validation(
                id: id, publisher: "main", app: "a", email: "a@example.test", customer: "a@example.test", offerID: "S1",
                status: status, acceptedAt: Timestamp(seconds: 1), deadline: Timestamp(seconds: 61)))
    }

    /// A cache whose feed has just looked.
    private func cache(capacity: Int = 100) -> ValidationCache {
        let cache = ValidationCache(capacity: capacity)
        cache.clear(at: now)
        return cache
    }

    @Test("are used as long as the feed is current")
    func feedKeepsUp() {
        let cache = cache()
        cache.keep(known(id(1)), read: cache.ticket(), now: now)
        #expect(cache.settled(id(1), now: now)?.validation.status == .granted)
        #expect(cache.settled(id(1), now: now + .milliseconds(999)) != nil)
        #expect(cache.settled(id(1), now: now + .seconds(1)) == nil)
        cache.looked(at: now + .seconds(2), changed: [])
        #expect(cache.settled(id(1), now: now + .milliseconds(2_500)) != nil)
    }

    @Test("are not used before the feed's first look")
    func noFeed() {
        let cache = ValidationCache()
        cache.keep(known(id(1)), read: cache.ticket(), now: now)
        #expect(cache.settled(id(1), now: now) == nil)
    }

    @Test("expire, even with a current feed")
    func shortLife() {
        let cache = cache()
        cache.keep(known(id(1)), read: cache.ticket(), now: now)
        cache.looked(at: now + .seconds(15), changed: [])
        #expect(cache.settled(id(1), now: now + .milliseconds(14_999)) != nil)
        #expect(cache.settled(id(1), now: now + .seconds(15)) == nil)
    }

    @Test(
        "never contain unsettled purchases, nor a timeout that a grant may follow",
        arguments: [.pending, .timedOut] as [ValidationStatus])
    func unsettled(status: ValidationStatus) {
        let cache = cache()
        cache.keep(known(id(1), status), read: cache.ticket(), now: now)
        #expect(cache.settled(id(1), now: now) == nil)
    }

    @Test("an accepted purchase is pending until a change, and is no settled answer")
    func accepted() {
        let cache = cache()
        let (early, ticket) = (cache.ticket(), cache.ticket())
        cache.keep(accepted: known(id(1), .pending), ticket, now: now)
        #expect(cache.pending(id(1), now: now)?.validation.id == id(1))
        #expect(cache.settled(id(1), now: now) == nil)
        #expect(cache.pending(id(2), now: now) == nil)
        cache.changed([id(1)])
        #expect(cache.pending(id(1), now: now) == nil)
        // The purchase was accepted before the change, and its acceptance reaches the cache after it.
        cache.keep(accepted: known(id(1), .pending), early, now: now)
        #expect(cache.pending(id(1), now: now) == nil)
        cache.keep(known(id(1)), read: cache.ticket(), now: now)
        #expect(cache.settled(id(1), now: now) != nil)
        #expect(cache.pending(id(1), now: now) == nil)
    }

    @Test("a change takes effect at once")
    func change() {
        let cache = cache()
        for number in 1...2 { cache.keep(known(id(UInt64(number))), read: cache.ticket(), now: now) }
        cache.changed([id(1)])
        #expect(cache.settled(id(1), now: now) == nil)
        #expect(cache.settled(id(2), now: now) != nil)
    }

    @Test("a read that began before a change is not cached; one that began after it is")
    func slowRead() {
        let cache = cache()
        let early = cache.ticket()
        cache.changed([id(1)])
        cache.keep(known(id(1), .granted), read: early, now: now)
        #expect(cache.settled(id(1), now: now) == nil)
        cache.keep(known(id(1), .transferred), read: cache.ticket(), now: now)
        #expect(cache.settled(id(1), now: now)?.validation.status == .transferred)
    }

    @Test("of two overlapping reads, the one that ends last changes nothing")
    func overlappingReads() {
        let cache = cache()
        let (slow, quick) = (cache.ticket(), cache.ticket())
        cache.keep(known(id(1), .transferred), read: quick, now: now)
        cache.keep(known(id(1), .granted), read: slow, now: now)
        #expect(cache.settled(id(1), now: now)?.validation.status == .transferred)
    }

    @Test("a gap in the feed clears the cache and rejects reads across it")
    func gap() {
        let cache = cache()
        let early = cache.ticket()
        cache.keep(known(id(1)), read: cache.ticket(), now: now)
        cache.clear(at: now)
        cache.keep(known(id(2)), read: early, now: now)
        #expect(cache.settled(id(1), now: now) == nil)
        #expect(cache.settled(id(2), now: now) == nil)
    }

    @Test("are bounded; recently used ones stay")
    func bounded() {
        let cache = cache(capacity: 10)
        for number in 0..<1_000 {
            cache.keep(known(id(UInt64(number))), read: cache.ticket(), now: now)
            #expect(cache.settled(id(0), now: now) != nil)
        }
        #expect((0..<1_000).filter { cache.settled(id(UInt64($0)), now: now) != nil }.count <= 20)
    }
}
