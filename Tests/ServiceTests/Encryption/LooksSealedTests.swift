import AppStoreSimulation
import Crypto
import Foundation
import Postgres
import Relay
import TestRun
import Testing

/// Receipts and names that look like sealed values.
@Suite(.serialized) struct LooksSealedTests {
    private static let keys = ["RELAY_ENCRYPTION_KEYS": WrappingKey.make()]

    /// Sealed bytes begin with a mark and the number of a data key, in four bytes.
    private static let receipts: [[UInt8]] = {
        let mark: [UInt8] = [0] + Array("sealed".utf8)
        func rest(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 91) } }
        return [
            mark + [0, 0, 0, 1], mark + [0, 0, 0, 1] + rest(28), mark + [0, 0, 0, 1] + rest(2_000),
            mark + [0, 0, 0, 7] + rest(500), mark + [0xff, 0xff, 0xff, 0xff] + rest(60),
        ]
    }()

    private static let emails = [
        "sealed.bid@example.test", "sealed1@example.test", "sealed0@example.test", "sealed1:ana@example.test",
        "sealed0:ana@example.test",
    ]

    private static func purchases() -> [RawPurchase] {
        zip(receipts, emails).enumerated().map { index, pair in
            RawPurchase(email: pair.1, transaction: "77\(index)", receipt: Data(pair.0).base64EncodedString())
        }
    }

    /// Contents of the database by row id, without rows about the commands themselves.
    private static func rows(_ database: TestDatabase) async throws -> [String] {
        var all: [String] = []
        for table in ["validations", "receipts", "pursuits", "subscriptions", "customers", "entitlement_reads"] {
            all += try await database.query(SQL(unescaped: "SELECT t::text FROM \(table) t ORDER BY 1")).map {
                "\(table): \(try $0.get(0, as: String.self))"
            }
        }
        return all
    }

    private static func run(_ setup: Setup, _ arguments: String...) async throws -> (code: Int32, text: String) {
        let environment = ["RELAY_DATABASE_URL": setup.database.url].merging(keys) { $1 }
        let ended = try await ChildProcess.run("receipt-relay", arguments, environment: environment)
        return (ended.code, ended.output.joined(separator: "\n"))
    }

    @Test(.timeLimit(.paced(minutes: 2)), arguments: [true, false])
    func theyAreForwardedUnchangedAndGranted(isSealed: Bool) async throws {
        try await Setup.run(settings: isSealed ? Self.keys : ["RELAY_ENCRYPTION_KEYS": ""]) { setup in
            for (purchase, (receipt, email)) in zip(Self.purchases(), zip(Self.receipts, Self.emails)) {
                let pursued = try await setup.pursued(purchase)
                let seen = pursued.forward["body"]["receipt"]["receiptData"]
                let text = Data(receipt).base64EncodedString()
                let digest = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
                #expect(seen["length"].int == text.utf8.count && seen["sha256"].string == digest)
                #expect(pursued.outcome["status"].string == "granted")
                #expect(try await setup.relay.detail(pursued.id)["customerEmail"].string == email)
            }
        }
    }

    @Test(.timeLimit(.paced(minutes: 2)))
    func theyAreSealedByEnableAndRestoredByDisable() async throws {
        try await Setup.run(settings: ["RELAY_ENCRYPTION_KEYS": ""]) { setup in
            var ids: [String] = []
            for purchase in Self.purchases() { ids.append(try await setup.pursued(purchase).id) }
            // The next copy would process any pending work.
            try await Awaiting.fact("nothing is left to do", is: 0) {
                try await setup.database.query(
                    SQL(
                        """
                        SELECT (SELECT count(*) FROM customers WHERE untold_since IS NOT NULL)
                             + (SELECT count(*) FROM pursuits) + (SELECT count(*) FROM ledgers WHERE due_at <= now())
                        """))[0].get(0, as: Int.self)
            }
            await setup.relay.end()
            _ = try await setup.database.query(SQL("DELETE FROM instances"))
            let before = try await Self.rows(setup.database)

            let enabled = try await Self.run(setup, "encryption", "enable")
            try #require(enabled.code == 0, "\(enabled.text)")
            let stored = try await setup.database.query(
                SQL("SELECT count(*) FILTER (WHERE sealed_by = 1), count(*) FROM receipts"))[0]
            #expect(try stored.get(0, as: Int.self) == Self.receipts.count)
            #expect(try stored.get(1, as: Int.self) == Self.receipts.count)
            for needle in ["example.test"] + Self.receipts.filter({ $0.count > 11 }).map({ Self.hex($0.suffix(20)) }) {
                let found = try await setup.database.query(
                    SQL(
                        """
                        SELECT count(*) FROM (SELECT v::text AS t FROM validations v UNION ALL SELECT r::text FROM receipts r) x
                        WHERE position($1 IN t) > 0
                        """, [.text(needle)]))[0].get(0, as: Int.self)
                #expect(found == 0, "\(needle)")
            }
            let relay = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys, settings: Self.keys)
            for (id, email) in zip(ids, Self.emails) {
                #expect(try await relay.detail(id)["customerEmail"].string == email)
                #expect(try await relay.ops("/ops/validations?customerEmail=\(email)").json["items"].array?.count == 1)
            }
            await relay.end()
            _ = try await setup.database.query(SQL("DELETE FROM instances"))

            let disabled = try await Self.run(setup, "encryption", "disable")
            #expect(disabled.code == 0, "\(disabled.text)")
            #expect(try await Self.rows(setup.database) == before)
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }
}
