import Postgres
import TestRun

extension TestDatabase {
    /// Makes partitions for the weeks that ``grow()`` fills. From now on only the test analyses the tables.
    nonisolated func makeRoomToGrow() async throws {
        for week in 1...4 { try await makeWeek(daysAgo: week * 7) }
        let tables: [String] = try await column(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
        for table in tables { try await run("ALTER TABLE \(table) SET (autovacuum_enabled = off)") }
        // A permanent table: the schema for the first temporary one would make every session plan everything anew.
        try await run(
            "CREATE TABLE seeded (n int, bucket int2, id uuid, day date, at timestamptz, name text, key text, digest bytea)"
        )
    }

    /// A publisher's rows after four weeks: that many purchases, and queues of rows that are not due yet.
    ///
    /// - Parameter numbers: numbers of the purchases, starting at 1. Only the first 5000 have rows in queues.
    nonisolated func grow(_ numbers: ClosedRange<Int>) async throws {
        try await hand.withTransaction(timeout: .seconds(170).paced) {
            try await $0.execute(script: Self.growth(numbers))
        }
    }

    /// Inserts without foreign key checks, which would take longer than everything else.
    private static func growth(_ numbers: ClosedRange<Int>) -> String {
        """
        SET LOCAL session_replication_role = replica;

        TRUNCATE seeded;
        INSERT INTO seeded
        SELECT n, (n % 256)::int2 AS bucket, gen_random_uuid() AS id, (now() AT TIME ZONE 'UTC')::date - n % 28 AS day,
               now() - n % 28 * interval '1 day' - interval '1 hour' AS at, 'grown' || n || '@example.test' AS name,
               'grown' || n AS key, sha256(int4send(n)) AS digest
        FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n;

        INSERT INTO subscriptions (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            product_id, accepted_on, id, accepted_at, owned_since, expires_at)
        SELECT bucket, 'main', 'Production', key, name, name, name, 'com.example.tv', 'S123456789_US',
               'com.example.monthly', day, id, at, at, now() + interval '30 days'
        FROM seeded;

        INSERT INTO validations (
            bucket, accepted_on, id, accepted_at, deadline, settled_at, expires_at, status, receipt_readable, forwards,
            publisher, app, email, customer, application_username, offer_id, transaction_id, app_type,
            subscription_key, environment, product_id, bundle_id, purchase_key, evidence, owner_no, cleeng_customer)
        SELECT bucket, day, id, at, at + interval '1 minute', at, now() + interval '30 days', 1, true, 1, 'main',
               'com.example.tv', name, name, name, 'S123456789_US', key, 'ios', key, 'Production',
               'com.example.monthly', 'com.example.tv', digest, '{}', 1, n
        FROM seeded;

        INSERT INTO receipts (bucket, accepted_on, id, is_text, body) SELECT bucket, day, id, false, digest FROM seeded;

        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, recorded_at, event, instance)
        SELECT bucket, day, id, 1, 0, at, at, 1, 'grown' FROM seeded;

        INSERT INTO purchases (bucket, key, validation_bucket, accepted_on, id, deadline, status)
        SELECT get_byte(digest, 0), digest, bucket, day, id, at, 1 FROM seeded;

        INSERT INTO ledgers (
            bucket, publisher, environment, subscription_key, heard_at, due_at, granted_at, granted_offer, expires_at,
            status)
        SELECT bucket, 'main', 'Production', key, at, now() + interval '30 days', at, 'S123456789_US',
               now() + interval '30 days', 1
        FROM seeded;

        INSERT INTO customers (bucket, publisher, username, changed_at, reason)
        SELECT bucket, 'main', name, at, 'PURCHASED' FROM seeded;

        INSERT INTO entitlement_reads (bucket, publisher, customer, read_at) SELECT bucket, 'main', name, at FROM seeded;

        DELETE FROM seeded WHERE n > 5000;

        INSERT INTO pursuits (
            bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, environment, customer,
            phase)
        SELECT bucket, gen_random_uuid(), day, now() + interval '1 hour', now(), now() + interval '1 hour', 'main', key,
               'Production', name, n % 2
        FROM seeded;

        INSERT INTO idempotency_keys (
            bucket, api_key, key, fingerprint, validation_bucket, accepted_on, id, expires_at)
        SELECT bucket, 'app-key', digest, digest, bucket, day, id, now() + interval '1 day' FROM seeded;

        INSERT INTO notification_names (bucket, name, accepted_on, id)
        SELECT get_byte(digest, 0), digest, day, id FROM seeded;

        INSERT INTO notifications (
            bucket, accepted_on, id, received_at, said_at, version, relay, relayed_at, publisher, environment, type,
            subscription_key, body)
        SELECT bucket, day, id, at, at, 2, 2, at, 'main', 'Production', 'DID_RENEW', key, digest FROM seeded;

        INSERT INTO notification_relays (
            bucket, id, accepted_on, due_at, said_at, received_at, publisher, environment, lane)
        SELECT bucket, id, day, now() + interval '1 hour', at, at, 'main', 'Production', key FROM seeded;

        INSERT INTO store_questions (
            bucket, publisher, environment, subscription_key, store, due_at, received_at, said_at, event)
        SELECT bucket, 'main', 'unknown', 'google:' || key, 'google', now() + interval '1 hour', at, at, 'grown' FROM seeded;

        INSERT INTO subscription_events (
            bucket, accepted_on, id, recorded_at, said_at, publisher, environment, subscription_key, event)
        SELECT bucket, day, id, at, at, 'main', 'Production', key, 'did_renew' FROM seeded;

        INSERT INTO webhook_deliveries (
            bucket, accepted_on, id, created_at, finished_at, sequence, state, endpoint, publisher, lane, body)
        SELECT f.bucket, f.day, f.id, f.at, f.at, 1, 1, e.id, 'main', f.name, '{}'
        FROM seeded f CROSS JOIN webhook_endpoints e;

        INSERT INTO webhook_queue (bucket, id, accepted_on, due_at, created_at, sequence, endpoint, lane)
        SELECT f.bucket, f.id, f.day, now() + interval '1 hour', f.at, 1, e.id, f.name
        FROM seeded f CROSS JOIN webhook_endpoints e;

        INSERT INTO cleeng_events (bucket, accepted_on, id, received_at, topic, body)
        SELECT bucket, day, id, at, 'test', digest FROM seeded;

        INSERT INTO contract_subscriptions (
            bucket, external_subscription, publisher, contract, customer, platform, environment, subscription_key,
            ledger_bucket, added_at)
        SELECT bucket, 'external' || n, 'main', 'contract' || n, 'customer' || n, 'apple', 'Production', key, bucket, at
        FROM seeded;
        """
    }
}
