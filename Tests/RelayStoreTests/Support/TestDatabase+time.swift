import Postgres
import RelayCore

@testable import Relay

extension TestDatabase {
    /// Makes a pursuit due: a claimed one loses its lease.
    nonisolated func makeDue(_ id: ValidationID) async throws {
        let rows = try await run(
            "UPDATE pursuits SET due_at = now() - interval '1 second' WHERE id = $1", .uuid(id.uuid))
        guard rows == 1 else { throw NoSingleRow(count: rows, sql: "pursuits") }
    }

    /// Changes all rows as if everything had been accepted that long ago.
    nonisolated func letPass(seconds: Int) async throws {
        let ago = "- interval '\(seconds) seconds'"
        try await run(
            """
            UPDATE validations SET accepted_at = accepted_at \(ago), deadline = deadline \(ago),
                settled_at = settled_at \(ago)
            """)
        try await run(
            """
            UPDATE pursuits SET accepted_at = accepted_at \(ago), deadline = deadline \(ago), due_at = due_at \(ago),
                retry_at = retry_at \(ago), read_at = read_at \(ago), forwarded_at = forwarded_at \(ago)
            """)
        try await run("UPDATE purchases SET deadline = deadline \(ago)")
        try await run(
            "UPDATE subscriptions SET accepted_at = accepted_at \(ago), owned_since = owned_since \(ago)")
        try await run("UPDATE idempotency_keys SET expires_at = expires_at \(ago)")
        try await run("UPDATE entitlement_reads SET read_at = read_at \(ago), kept_until = kept_until \(ago)")
    }

    /// Fixes `now()` to one time for connections that are opened later: the view of copies that begin in the same
    /// microsecond. Must be called before the schema is created.
    nonisolated func freezeTransactionTime() async throws {
        try await run("CREATE TABLE frozen AS SELECT pg_catalog.now() AS at")
        try await run(
            """
            CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE
            AS 'SELECT at FROM public.frozen'
            """)
        // If pg_catalog is in the path explicitly, other schemas can precede it.
        try await run("ALTER DATABASE \(name) SET search_path = public, pg_catalog")
    }

    nonisolated func moveFrozenTime(seconds: Int) async throws {
        try await run("UPDATE frozen SET at = at + interval '\(seconds) seconds'")
    }
}
