import NIOConcurrencyHelpers
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct CustomerTokenCacheTests {
    @Test func itNeverHoldsMoreThanItsCapacity() {
        let cache = CustomerTokenCache(capacity: 10)
        for number in 0..<1000 { cache.store(Secret("t\(number)"), for: "\(number)") }
        #expect(cache.count <= 10)
        #expect(cache.token(for: "999")?.exposed == "t999")
        #expect(cache.token(for: "0") == nil)
    }

    @Test func aTokenInUseStays() {
        let cache = CustomerTokenCache(capacity: 10)
        cache.store(Secret("kept"), for: "used")
        for number in 0..<1000 {
            cache.store(Secret("t"), for: "\(number)")
            #expect(cache.token(for: "used")?.exposed == "kept")
        }
    }

    @Test func aTokenIsForgottenAfterItsLifetime() {
        let now = NIOLockedValueBox(ContinuousClock.now)
        let cache = CustomerTokenCache(lifetime: .seconds(60)) { now.withLockedValue { $0 } }
        cache.store(Secret("t"), for: "a")
        now.withLockedValue { $0 += .seconds(59) }
        #expect(cache.token(for: "a") != nil)
        now.withLockedValue { $0 += .seconds(1) }
        #expect(cache.token(for: "a") == nil)
        #expect(cache.count == 0)
    }

    @Test func aRemovedTokenIsGoneFromBothGenerations() {
        let cache = CustomerTokenCache(capacity: 4)
        cache.store(Secret("t"), for: "a")
        for number in 0..<2 { cache.store(Secret("t"), for: "\(number)") }
        cache.remove("a")
        #expect(cache.token(for: "a") == nil)
    }
}
