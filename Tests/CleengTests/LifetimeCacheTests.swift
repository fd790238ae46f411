import NIOConcurrencyHelpers
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct LifetimeCacheTests {
    private static func tokens(capacity: Int) -> LifetimeCache<EmailAddress, Secret> {
        LifetimeCache(capacity: capacity, lifetime: .seconds(60))
    }

    @Test func itNeverHoldsMoreThanItsCapacity() {
        let cache = Self.tokens(capacity: 10)
        for number in 0..<1000 { cache.store(Secret("t\(number)"), for: "\(number)") }
        #expect(cache.count <= 10)
        #expect(cache.value(for: "999")?.exposed == "t999")
        #expect(cache.value(for: "0") == nil)
    }

    @Test func aTokenInUseStays() {
        let cache = Self.tokens(capacity: 10)
        cache.store(Secret("kept"), for: "used")
        for number in 0..<1000 {
            cache.store(Secret("t"), for: "\(number)")
            #expect(cache.value(for: "used")?.exposed == "kept")
        }
    }

    @Test func aTokenIsForgottenAfterItsLifetime() {
        let now = NIOLockedValueBox(ContinuousClock.now)
        let cache = LifetimeCache<EmailAddress, Secret>(lifetime: .seconds(60)) { now.withLockedValue { $0 } }
        cache.store(Secret("t"), for: "a")
        now.withLockedValue { $0 += .seconds(59) }
        #expect(cache.value(for: "a") != nil)
        now.withLockedValue { $0 += .seconds(1) }
        #expect(cache.value(for: "a") == nil)
        #expect(cache.count == 0)
    }

    @Test func aRemovedTokenIsGoneFromBothGenerations() {
        let cache = Self.tokens(capacity: 4)
        cache.store(Secret("t"), for: "a")
        for number in 0..<2 { cache.store(Secret("t"), for: "\(number)") }
        cache.remove("a")
        #expect(cache.value(for: "a") == nil)
    }
}
