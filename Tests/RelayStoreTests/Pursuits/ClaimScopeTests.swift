import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Claiming for one account at Cleeng")
struct ClaimScopeTests {
    private static let own = PublisherScope.only("nordic")
    private static let common = PublisherScope.allBut(["nordic"])

    private func withPublishers(_ body: (TestDatabase, RelayStore) async throws -> Void) async throws {
        try await withStore { database, store in
            for publisher in ["main", "nordic", "south"] { _ = try await store.publishers.add(PublisherID(publisher)) }
            #expect(try await store.publishers.adoptAccounts(of: ["nordic"]) == ["nordic"])
            try await body(database, store)
        }
    }

    @Test("claims that account's pursuits, the oldest first over all its publishers, and no others")
    func due() async throws {
        try await withPublishers { database, store in
            var ids: [String: [ValidationID]] = [:]
            for (place, publisher) in ["nordic", "south", "main", "nordic", "main"].enumerated() {
                let id = try await store.take(.sample(subscription: "s\(place)", publisher: publisher))
                try await database.run(
                    "UPDATE pursuits SET due_at = now() - $2::int4 * interval '1 second' WHERE id = $1", .uuid(id.uuid),
                    .int4(Int32(100 - place)))
                ids[publisher, default: []].append(id)
            }
            func claim(_ scope: PublisherScope, _ limit: Int) async throws -> Set<ValidationID> {
                Set(
                    try await store.purchases.claimDue([.forwarding: limit], of: scope, lease: RelayStore.lease).map(
                        \.id))
            }
            #expect(try await claim(.only("nobody"), 9) == [])
            #expect(try await claim(Self.common, 2) == [try #require(ids["south"]?[0]), try #require(ids["main"]?[0])])
            #expect(try await claim(Self.common, 9) == [try #require(ids["main"]?[1])])
            #expect(try await claim(Self.own, 1) == [try #require(ids["nordic"]?[0])])
            // Scope and database disagree about the publisher's own account: then its pursuits are not claimed, in
            // either direction.
            #expect(try await claim(.common, 9) == [])
            #expect(try await store.publishers.forgetAccount(of: "nordic"))
            #expect(try await claim(Self.own, 9) == [])
            #expect(try await claim(Self.common, 9) == [])
            #expect(try await claim(.common, 9) == [try #require(ids["nordic"]?[1])])
        }
    }

    @Test("only copies with the publisher's account evaluate its ledgers and deliver its messages")
    func hasAccount() async throws {
        try await withPublishers { database, store in
            let endpoint = try #require(
                try await store.webhooks.addEndpoint(publisher: "nordic", url: "https://a.example.com"))
            try await database.enqueue(.state(endpoint, 1))
            try await Notices(store: store, database: database).come("SUBSCRIBED", said: 0)
            try await database.run("UPDATE ledgers SET publisher = 'nordic', due_at = now()")
            func taken(_ own: [PublisherID]) async throws -> [Int] {
                let room = DeliveryQuota(count: 5, publisher: "nordic", mark: RelayStore.mark)
                return [
                    try await store.webhooks.claim([endpoint: room], own: own, lease: .seconds(60)).count,
                    try await store.subscriptions.claimDue(own: own, limit: 5, lease: .seconds(60)).count,
                ]
            }
            #expect(try await taken([]) == [0, 0])
            #expect(try await taken(["south"]) == [0, 0])
            #expect(try await store.publishers.forgetAccount(of: "nordic"))
            #expect(try await taken(["nordic"]) == [0, 0])
            #expect(try await store.publishers.adoptAccounts(of: ["nordic", "main"]) == ["main", "nordic"])
            #expect(try await taken(["nordic"]) == [1, 1])
        }
    }

    @Test("ledgers of an account without a free place are left, those of others are claimed")
    func full() async throws {
        try await withPublishers { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            for publisher in ["nordic", "south"] {
                try await database.run("UPDATE ledgers SET publisher = '\(publisher)', due_at = now()")
                for (full, count) in [([nil, "nordic"], 0), ([publisher == "nordic" ? nil : "nordic"], 1)]
                    as [(Set<PublisherID?>, Int)]
                {
                    let claimed = try await store.subscriptions.claimDue(
                        own: ["nordic"], full: full, limit: 5, lease: .seconds(60))
                    #expect(claimed.count == count, "\(publisher) beside \(full)")
                }
            }
        }
    }

    @Test("accounts are stored once, and unknown publishers' names are reported")
    func accounts() async throws {
        try await withPublishers { _, store in
            #expect(try await store.publishers.adoptAccounts(of: ["typo", "nordic"]) == ["typo"])
            #expect(try await store.publishers.ownAccounts() == ["nordic", "typo"])
            #expect(try await store.publishers.strangers(among: ["typo", "nordic", "main"]) == ["typo"])
            let listed = try await store.publishers.list().filter(\.hasOwnAccount)
            #expect(listed.map(\.id) == ["nordic"])
            #expect(try await store.publishers.forgetAccount(of: "main") == false)
            let roster = AccountRoster()
            #expect(roster.hasOwn("nordic") && roster.hasOwn("main"), "unread")
            let read = try await roster.read(store)
            #expect(read == ["nordic", "typo"] && roster.hasOwn("nordic") && !roster.hasOwn("main"))
        }
    }

    @Test("claims only that account's pursuits past the deadline")
    func expired() async throws {
        try await withPublishers { database, store in
            let mine = try await store.take(.sample(subscription: "a", publisher: "nordic"))
            let other = try await store.take(.sample(subscription: "b", publisher: "main"))
            try await database.run("UPDATE pursuits SET deadline = now() - interval '1 second'")
            func expired(_ scope: PublisherScope) async throws -> [ValidationID] {
                try await store.purchases.claimExpired(
                    phases: [.forwarding], of: scope, limit: 9, lease: RelayStore.lease
                )
                .map(\.id)
            }
            #expect(try await expired(Self.own) == [mine])
            #expect(try await expired(Self.common) == [other])
        }
    }

    @Test("claims only that account's notifications, and those from before any publisher")
    func notifications() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            #expect(try await store.notifications.claim(of: Self.own, limit: 5, lease: .seconds(60)).isEmpty)
            #expect(try await store.notifications.claim(of: Self.common, limit: 5, lease: .seconds(60)).count == 1)
            _ = try await store.publishers.add("nordic")
            _ = try await store.publishers.adoptAccounts(of: ["nordic"])
            try await database.run("UPDATE notification_relays SET publisher = 'nordic', owner = NULL, due_at = now()")
            #expect(try await store.notifications.claim(of: Self.common, limit: 5, lease: .seconds(60)).isEmpty)
            #expect(try await store.notifications.claim(of: Self.own, limit: 5, lease: .seconds(60)).count == 1)
        }
    }

    @Test("an event of Cleeng applies only to its account's customers, despite equal emails and numbers")
    func words() async throws {
        try await withPublishers { database, store in
            var ids: [String: ValidationID] = [:]
            for publisher in ["nordic", "main"] {
                let scope = publisher == "nordic" ? Self.own : Self.common
                let claimed = try await store.takeAndClaim(
                    .sample(subscription: "s", publisher: publisher), of: scope)
                try await store.write(claimed.watching(until: claimed.pursuit.deadline))
                ids[publisher] = claimed.id
            }
            let word = UpstreamStatement(
                .granted(expiresAt: nil, evidence: "{}"), saidAt: try await database.now(), summary: "a word",
                synchronization: nil)
            func subject(_ scope: PublisherScope) -> EventSubject {
                EventSubject(customer: "ana@example.test", offerID: "S123456789_US", scope: scope)
            }
            var early = word
            early.saidAt = try await database.now() - .seconds(3_600)
            let none = try await store.purchases.claimWaiting(
                for: early, of: subject(Self.own), lease: RelayStore.lease)
            #expect(none.claimed.isEmpty && none.left == 0, "an event from before the purchase is about another one")
            let claimed = try await store.purchases.claimWaiting(
                for: word, of: subject(Self.own), lease: RelayStore.lease)
            #expect(claimed.claimed.map(\.id) == [ids["nordic"]] && claimed.left == 0)
            for claimed in claimed.claimed { try await store.write(claimed.granted()) }
            #expect(try await store.events.owned(by: subject(Self.common)).isEmpty)
            #expect(try await store.events.owned(by: subject(Self.own)).map(\.publisher) == ["nordic"])
        }
    }

    @Test("the same event of two accounts is stored twice")
    func events() async throws {
        try await withStore { database, store in
            let now = try await database.now()
            for account in [nil, "nordic", "south"] {
                #expect(
                    try await store.events.receive(topic: "t", body: [1], account: PublisherID(account), now: now)
                        == .stored)
                #expect(
                    try await store.events.receive(topic: "t", body: [1], account: PublisherID(account), now: now)
                        == .repeated)
            }
            let claimed = try await store.events.claim(own: ["nordic"], limit: 9, lease: .seconds(60))
            #expect(Set(claimed.map(\.account)) == [nil, "nordic"])
        }
    }

    @Test("one account's backlog of events uses no place of another")
    func eventBacklog() async throws {
        try await withStore { database, store in
            let now = try await database.now()
            for number in 0..<5 {
                _ = try await store.events.receive(topic: "t", body: [UInt8(number)], account: "nordic", now: now)
            }
            for account in [nil, "south"] as [PublisherID?] {
                _ = try await store.events.receive(topic: "t", body: [9], account: account, now: now)
            }
            let claimed = try await store.events.claim(["nordic": 3, nil: 3, "south": 0], lease: .seconds(60))
            #expect(Dictionary(grouping: claimed, by: \.account).mapValues(\.count) == ["nordic": 3, nil: 1])
            let rest = try await store.events.claim(["south": 3, nil: 3], lease: .seconds(60))
            #expect(rest.map(\.account) == ["south"])
            #expect(try await store.events.claim([:], lease: .seconds(60)).isEmpty)
        }
    }
}
