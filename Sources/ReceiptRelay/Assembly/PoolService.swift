import Postgres
import ServiceLifecycle

/// The pool for the length of the process: the last to go, since everybody else still needs it on the way out.
struct PoolService: Service {
    let pool: PostgresPool

    func run() async throws {
        await cancelWhenGracefulShutdown { await pool.run() }
    }
}
