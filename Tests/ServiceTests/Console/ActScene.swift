import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import Relay
import Testing

/// A relay with a target for every act of operators, and a way to perform each act through each interface.
struct ActScene {
    /// One act, ready to run.
    struct Way {
        /// SQL that shows the act's effect as one text; nil if it has no lasting effect.
        var probe: String?
        /// - Returns: whether the act succeeded.
        var act: () async throws -> Bool
    }

    let setup: Setup
    let store: TestAppStore
    let amazon: OtherStores.Store
    /// An endpoint that receives messages.
    let endpoint: String
    /// A customer with a grant that stays.
    let customer: String
    let original: String
    let notification: String
    let console: ConsoleVisit
    let formToken: String
    private let settings: [String: String]

    /// - Parameter known: the relay's own settings.
    init(
        _ setup: Setup, _ store: TestAppStore, _ apple: AppStoreAPI, _ amazon: OtherStores.Store, receiver: Int,
        settings known: [String: String]
    ) async throws {
        (self.setup, self.store, self.amazon) = (setup, store, amazon)
        settings = known.merging([
            "RELAY_DATABASE_URL": setup.database.url, "RELAY_CLEENG_PUBLISHER_TOKEN": Simulator.token,
            "RELAY_CLEENG_PAYMENT_URL": setup.simulator.url, "RELAY_CLEENG_API_URL": setup.simulator.url,
            "RELAY_POLL_INTERVAL_SECONDS": "0.3", "USER": "olga",
        ]) { $1 }
        let added = try await ChildProcess.run(
            "receipt-relay", ["webhooks", "add", "--url", "http://127.0.0.1:\(receiver)/"], environment: settings)
        endpoint = try #require(added.output.first)
        customer = "ana@example.test"
        var life = try store.subscription()
        life.bought(at: Date())
        try await apple.sendTests(to: setup.relay)
        try await apple.tell(life, expiresAt: Date().addingTimeInterval(86_400))
        let bought = try await setup.relay.purchase(try store.purchase(life, email: customer))
        let id = try #require(bought.json["validationId"].string)
        #expect(try await setup.relay.outcome(id)["status"].string == "granted")
        original = try #require(try await setup.relay.detail(id)["originalTransactionId"].string)
        #expect(try await setup.relay.notify(life.renewalTurned(.off, at: Date()), signedBy: store).status == 200)
        notification = try #require(try await setup.relay.ops("/ops/notifications").json["items"][0]["id"].string)
        var visit = ConsoleVisit(setup.relay)
        try await visit.signIn(setup.relay.keys.operator)
        console = visit
        formToken = try await visit.formToken()
    }

    // MARK: Interfaces

    private func command(_ arguments: [String]) -> () async throws -> Bool {
        { try await ChildProcess.run("receipt-relay", arguments, environment: settings).code == 0 }
    }

    private func api(_ path: String, body: String = #"{"reason":"a test"}"#) -> () async throws -> Bool {
        {
            try await HTTP.post(
                setup.relay.opsURL + "/ops/" + path,
                headers: [
                    "Authorization": "Bearer \(setup.relay.keys.operator)", "Content-Type": "application/json",
                ], body: Data(body.utf8)
            ).status / 100 == 2
        }
    }

    private func form(_ path: String) -> () async throws -> Bool {
        {
            try await console.post("/console/" + path, ["token": formToken, "reason": "a test"]).status == 303
        }
    }

    /// The act through the given interface.
    private func by(
        _ door: Door, console: String = "", api: String = "", command: [String] = []
    ) -> () async throws -> Bool {
        switch door {
        case .console: form(console)
        case .api: self.api(api)
        case .commandLine: self.command(command)
        }
    }

    // MARK: Acts

    func way(_ action: AuditEntry.Action, by door: Door) async throws -> Way {
        let (relay, reason) = (setup.relay, ["--reason", "a test"])
        switch action {
        case .signedIn:
            return Way(probe: "SELECT count(*)::text FROM console_sessions") {
                try await ConsoleVisit(relay).post("/console/sign-in", ["key": relay.keys.operator]).status == 303
            }
        case .signedOut:
            var visit = ConsoleVisit(relay)
            try await visit.signIn(relay.keys.operator)
            let (signed, token) = (visit, try await visit.formToken())
            return Way(probe: "SELECT count(*)::text FROM console_sessions") {
                try await signed.post("/console/sign-out", ["token": token]).status == 303
            }
        case .validationRetried:
            let id = try await open()
            return Way(
                probe: "SELECT count(*)::text FROM timeline WHERE event = 16",
                act: by(
                    door, console: "validations/\(id)/retry", api: "validations/\(id)/retry",
                    command: ["validations", "retry", id] + reason))
        case .validationAbandoned:
            let id = try await open()
            return Way(
                probe: "SELECT string_agg(status::text, ',' ORDER BY id) FROM validations",
                act: by(
                    door, console: "validations/\(id)/abandon", api: "validations/\(id)/abandon",
                    command: ["validations", "abandon", id] + reason))
        case .validationsReplayed:
            _ = try await open()
            let body = #"{"reason":"a test","status":"pending"}"#
            return Way(
                probe: "SELECT count(*)::text FROM timeline WHERE event = 16",
                act: door == .api
                    ? api("validations/replay", body: body)
                    : command(["validations", "replay", "--status", "pending"] + reason))
        case .notificationReplayed:
            return Way(
                probe: "SELECT count(*)::text FROM subscription_events WHERE event = 'replayed'",
                act: by(
                    door, console: "notifications/\(notification)/replay", api: "notifications/\(notification)/replay",
                    command: ["notifications", "replay", notification] + reason))
        case .notificationTested:
            let body = #"{"reason":"a test","environment":"Sandbox"}"#
            let forms = form("notifications/Sandbox/test")
            return Way(
                probe: "SELECT count(*)::text FROM notifications WHERE type = 'TEST'",
                act: door == .api
                    ? api("notifications/test", body: body)
                    : door == .console
                        ? forms : command(["notifications", "test", "--environment", "Sandbox"] + reason))
        case .topicConfirmed:
            let id = try await unconfirmedTopic()
            return Way(
                probe: "SELECT state::text FROM topic_subscriptions",
                act: by(
                    door, console: "notifications/\(id)/confirm", api: "notifications/\(id)/confirm",
                    command: ["notifications", "confirm", id] + reason))
        case .webhookReplayed:
            let id = try await message()
            return Way(
                probe: Self.messages,
                act: by(
                    door, console: "webhooks/\(id)/replay", api: "webhooks/\(id)/replay",
                    command: ["webhooks", "replay", id]))
        case .eventReplayed:
            let id = try await parkedEvent()
            return Way(
                probe: "SELECT string_agg((parked_at IS NULL)::text, ',' ORDER BY id) FROM cleeng_events",
                act: by(
                    door, console: "events/\(id)/replay", api: "events/\(id)/replay",
                    command: ["events", "replay", id] + reason))
        case .subscriptionReplayed:
            try await run("UPDATE ledgers SET parked_at = now(), due_at = NULL")
            let known = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json
            let id = try #require(known["items"][0]["id"].string)
            return Way(
                probe: "SELECT string_agg((parked_at IS NULL)::text, ',' ORDER BY subscription_key) FROM ledgers",
                act: by(
                    door, console: "subscriptions/\(id)/replay", api: "subscriptions/\(id)/replay",
                    command: ["subscriptions", "replay", id] + reason))
        case .refundsLookedUp:
            let known = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json
            let id = try #require(known["items"][0]["id"].string)
            return Way(
                act: by(
                    door, console: "subscriptions/\(id)/refunds", api: "subscriptions/\(id)/refunds",
                    command: ["subscriptions", "refunds", id] + reason))
        case .customerResynced:
            return Way(
                probe: Self.messages,
                act: by(
                    door, console: "customers/\(target)/resync",
                    command: ["webhooks", "resync", "--username", customer]))
        case .customerRefreshed:
            return Way(
                act: by(
                    door, console: "customers/\(target)/refresh", api: "customers/\(customer)/refresh",
                    command: ["customers", "refresh", customer] + reason))
        case .customerExported: return Way(act: command(["customers", "export", customer] + reason))
        case .customerErased:
            return Way(
                probe: "SELECT count(*)::text FROM subscriptions",
                act: command(["customers", "erase", customer] + reason))
        case .endpointAdded:
            return Way(
                probe: "SELECT count(*)::text FROM webhook_endpoints",
                act: command(["webhooks", "add", "--url", "https://example.test/\(UUID())"]))
        case .endpointRemoved:
            return Way(
                probe: "SELECT count(*)::text FROM webhook_endpoints WHERE removed_at IS NULL",
                act: command(["webhooks", "remove", try await newEndpoint()]))
        case .endpointEnabled:
            let id = try await newEndpoint()
            try await run(
                "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone' WHERE id = '\(id)'")
            return Way(
                probe: Self.disabledEndpoints,
                act: by(door, console: "endpoints/\(id)/enable", command: ["webhooks", "enable", id]))
        case .endpointDisabled:
            let id = try await newEndpoint()
            return Way(
                probe: Self.disabledEndpoints,
                act: by(door, console: "endpoints/\(id)/disable", command: ["webhooks", "disable", id]))
        case .endpointTested: return Way(act: command(["webhooks", "test", endpoint]))
        case .keyCreated:
            return Way(
                probe: "SELECT count(*)::text FROM api_keys",
                act: command(["keys", "create", "--role", "app", "--name", "Lea"]))
        case .keyRevoked:
            let key = try await Relay.makeKey("app", setup.database)
            let id = try #require(key.split(separator: "_").dropFirst(2).first.map(String.init))
            return Way(
                probe: "SELECT count(*)::text FROM api_keys WHERE revoked_at IS NULL",
                act: by(door, console: "keys/\(id)/revoke", command: ["keys", "revoke", id]))
        case .publisherAdded:
            return Way(
                probe: "SELECT count(*)::text FROM publishers", act: command(["publishers", "add", "south"]))
        case .publisherShares:
            try await run("INSERT INTO own_accounts (publisher) VALUES ('south')")
            return Way(
                probe: "SELECT count(*)::text FROM own_accounts",
                act: command(["publishers", "use-common-account", "south"]))
        case .offersImported:
            return Way(
                probe: "SELECT count(*)::text FROM offers",
                act: command(["offers", "add", "--offer", "S9_US", "--product", "com.example.nine"]))
        case .offerRemoved:
            return Way(
                probe: "SELECT count(*)::text FROM offers", act: command(["offers", "remove", "--offer", "S9_US"]))
        case .retentionRun: return Way(act: command(["retention", "run"]))
        case .encryptionEnabled, .encryptionDisabled, .keysRotated:
            // This act requires that no copy runs.
            return Way { false }
        }
    }

    /// Messages to the customer; those to others change by themselves.
    private static let messages =
        "SELECT count(*)::text FROM webhook_deliveries WHERE lane = 'ana@example.test'"

    private static let disabledEndpoints =
        "SELECT string_agg((disabled_at IS NULL)::text, ',' ORDER BY id) FROM webhook_endpoints"

    // MARK: Targets

    /// A purchase that Cleeng has accepted and never grants.
    private func open() async throws -> String {
        let email = "x\(Int.random(in: 0..<1_000_000_000))+never@example.test"
        let id = try await setup.relay.pursue(try store.purchase(email: email))
        try await Awaiting.fact("it is sent", is: true) { try await setup.relay.events(id).contains("forwarded") }
        return id
    }

    private func message() async throws -> String {
        let found = try await Awaiting.fact("a message to the endpoint") {
            try await setup.relay.ops("/ops/webhooks?applicationUsername=\(customer)&state=delivered").json["items"][0][
                "id"
            ]
            .string
        } holds: {
            $0 != nil
        }
        return try #require(found)
    }

    /// The newest message that requests a confirmation.
    private func unconfirmedTopic() async throws -> String {
        let asked = "SELECT count(*)::text FROM notifications WHERE type = 'SubscriptionConfirmation'"
        let before = try await value(asked)
        try await amazon.control(
            .PUT, "push", #"{"url":"\#(setup.relay.url)/amazon/notifications","confirmed":false}"#)
        try await Awaiting.fact("the relay is asked once more", of: { try await value(asked) }, holds: { $0 != before })
        let newest = try await setup.relay.ops("/ops/notifications").json["items"].array?.first {
            $0["type"].string == "SubscriptionConfirmation"
        }
        return try #require(newest?["id"].string)
    }

    private func parkedEvent() async throws -> String {
        let rows = try await setup.database.query(
            SQL(
                """
                INSERT INTO cleeng_events (bucket, accepted_on, id, received_at, topic, body, parked_at, trouble)
                VALUES (7, current_date, gen_random_uuid(), now(), 'test', '{}', now(), 'a test')
                RETURNING '07' || lpad(to_hex(accepted_on - DATE 'epoch'), 4, '0') || replace(id::text, '-', '')
                """))
        return try #require(try rows.first?.get(0, as: String.self))
    }

    private func newEndpoint() async throws -> String {
        let added = try await ChildProcess.run(
            "receipt-relay", ["webhooks", "add", "--url", "https://example.test/\(UUID())"], environment: settings)
        return try #require(added.output.first)
    }

    /// The customer in the form of the console's addresses.
    private var target: String { Data("main\n\(customer)".utf8).map { String(format: "%02x", $0) }.joined() }

    // MARK: The audit log

    /// - Parameter isClosed: whether the audit log refuses all writes.
    func close(_ isClosed: Bool) async throws {
        try await run("ALTER TABLE audit_log \(isClosed ? "ENABLE" : "DISABLE") TRIGGER refuse")
    }

    func makeTrigger() async throws {
        try await run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it is closed'; END $$"
        )
        try await run(
            "CREATE TRIGGER refuse BEFORE INSERT ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse()")
        try await close(false)
    }

    /// Actors of an act, once for each row.
    func actors(_ action: AuditEntry.Action) async throws -> [String] {
        try await setup.database.query(
            SQL("SELECT actor FROM audit_log WHERE action = $1 ORDER BY at", [.text(action.rawValue)])
        ).map { try $0.get(0) }
    }

    func value(_ probe: String?) async throws -> String? {
        guard let probe else { return nil }
        return try await setup.database.query(SQL(probe)).first?.get(0, as: String?.self)
    }

    private func run(_ sql: String) async throws { _ = try await setup.database.query(SQL(sql)) }
}
