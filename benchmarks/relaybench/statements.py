"""Which step of a pursuit PostgreSQL spends its time on, by pg_stat_statements."""

from .postgres import Postgres

# The first that fits names the step; what fits none is shown as it is in the JSON file.
STEPS = [
    ("accept", "INSERT INTO validations"),
    ("claim", "FOR UPDATE OF p SKIP LOCKED"),
    ("right to read", "INSERT INTO entitlement_reads"),
    ("forward: the receipt", "JOIN receipts r"),
    ("settle: lock", "FOR UPDATE OF p"),
    ("settle: owner", "INSERT INTO subscriptions"),
    ("settle: validation", "UPDATE validations v"),
    ("settle: timeline", "INSERT INTO timeline"),
    ("settle: purchase", "UPDATE purchases"),
    ("settle: pursuit", "DELETE FROM pursuits"),
    ("settle: outbox", "INSERT INTO outbox"),
    ("settle: commit", "COMMIT"),
    ("poll", "FROM validations v"),
    ("leases, release", "UPDATE pursuits"),
]


class Statements:
    """Absent where the extension is not installed."""

    def __init__(self, postgres: Postgres, database: str):
        self.postgres, self.database = postgres, database
        libraries = postgres.run("postgres", "SHOW shared_preload_libraries")
        self.available = bool(libraries) and "pg_stat_statements" in libraries[0][0]
        if self.available:
            postgres.run("postgres", "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def track(self, how: str) -> None:
        """`top` while it is looked at, `none` else: counting is not free."""
        if self.available:
            self.postgres.run("postgres", f"ALTER SYSTEM SET pg_stat_statements.track = '{how}'")
            self.postgres.run("postgres", "SELECT pg_reload_conf(), pg_stat_statements_reset()")

    def shares(self, purchases: int) -> list[dict]:
        """By step, the largest first: calls and milliseconds of execution for each purchase, and the share of all."""
        if not self.available:
            return []
        rows = self.postgres.run(
            "postgres",
            f"""SELECT s.calls, s.total_exec_time, left(regexp_replace(s.query, '\\s+', ' ', 'g'), 4000)
                FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
                WHERE d.datname = '{self.database}' AND s.query !~ '^(TRUNCATE|CHECKPOINT)'""",
        )
        steps: dict[str, list[float]] = {}
        for calls, milliseconds, query in rows:
            name = next((step for step, sign in STEPS if sign in query), None) or f"other: {query[:60]}"
            step = steps.setdefault(name, [0, 0])
            step[0] += int(calls)
            step[1] += float(milliseconds)
        total = sum(time for _, time in steps.values()) or 1
        return sorted(
            (
                {
                    "step": name,
                    "callsPerPurchase": calls / purchases,
                    "microsecondsPerPurchase": time * 1000 / purchases,
                    "share": time / total,
                }
                for name, (calls, time) in steps.items()
            ),
            key=lambda step: -step["share"],
        )
