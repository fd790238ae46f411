"""The private cluster that scripts/bench has started."""

import contextlib
import subprocess
from pathlib import Path

from .failure import BenchError
from .processes import tree_cpu_seconds
from .stage import Stage, bare_environment
from .waiting import until

GROWING_TABLES = (
    "validations, receipts, timeline, pursuits, purchases, idempotency_keys, entitlement_reads, subscriptions, "
    "transfers, outbox"
)


class Postgres:
    def __init__(self, stage: Stage):
        self.stage = stage
        self.pid = int((stage.run_folder / "1-postgres.pid").read_text().split()[0])

    def _client(self, program: str, *arguments: str) -> list[str]:
        return [
            str(self.stage.postgres_programs / program),
            "-h",
            "127.0.0.1",
            "-p",
            str(self.stage.postgres_port),
            "-U",
            "relay",
            *arguments,
        ]

    def run(self, database: str, sql: str, seconds: float = 600) -> list[list[str]]:
        """The rows of the last statement; a semicolon inside the text makes a transaction of it all."""
        command = self._client(
            "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"
        )
        ended = subprocess.run(
            command, input=sql, env=bare_environment(), capture_output=True, text=True, timeout=seconds
        )
        if ended.returncode:
            raise BenchError(f"PostgreSQL refused a statement of the benchmark: {ended.stderr.strip()[:500]}")
        return [line.split("\t") for line in ended.stdout.splitlines() if line]

    def create_for_bench(self, database: str) -> None:
        """A database with the schema of the executable that will use it."""
        self.create(database, "bench_template_baseline" if database.endswith("_baseline") else "bench_template")

    def create(self, database: str, template: str | None = None) -> None:
        source = f" TEMPLATE {template}" if template else ""
        self.run("postgres", f"CREATE DATABASE {database}{source}")

    def stop_autovacuum(self, database: str) -> None:
        """On the tables of a database and of its copies."""
        self.run(
            database,
            """SELECT format('ALTER TABLE %s SET (autovacuum_enabled = off)', oid::regclass)
               FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace \\gexec""",
        )

    def vacuum(self, database: str, what: str = "(ANALYZE)") -> None:
        """Nothing where plans are to be made without statistics: each kind of VACUUM leaves some."""
        if not self.stage.never_analysed:
            self.run(database, f"VACUUM {what}")

    def clear(self, database: str, *more: str) -> None:
        """Empties every table that grows, and writes out what is dirty: each run begins alike."""
        statement = f"TRUNCATE {', '.join([GROWING_TABLES, *more])}"
        for _ in range(5):
            with contextlib.suppress(BenchError):
                # A running relay looks into these tables too, and in another order.
                self.run(database, statement)
                break
        else:
            self.run(database, statement)
        self.run(database, "CHECKPOINT")

    def size(self, database: str) -> str:
        return self.run("postgres", f"SELECT pg_size_pretty(pg_database_size('{database}'))")[0][0]

    def cpu_seconds(self) -> float:
        # A backend that ends between a look at the postmaster and one at itself is missing from one sum, not from all.
        return max(tree_cpu_seconds(self.pid) for _ in range(3))

    def version(self) -> str:
        return self.run("postgres", "SHOW server_version")[0][0]

    def pgbench(
        self, database: str, script: Path, seconds: float, clients: int = 8, rate: float | None = None, **variables: str
    ) -> float:
        """Transactions a second; no more than `rate`, at random intervals, where one is given."""
        paced = ["-R", f"{rate:g}"] if rate else []
        given = [argument for name, value in variables.items() for argument in ("-D", f"{name}={value}")]
        command = self._client(
            "pgbench",
            "-n",
            "-M",
            "prepared",
            "-c",
            str(clients),
            "-j",
            "2",
            "-T",
            str(max(1, round(seconds))),
            "-f",
            str(script),
            *paced,
            *given,
            database,
        )
        ended = subprocess.run(command, env=bare_environment(), capture_output=True, text=True, timeout=seconds + 60)
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'"
        until(lambda: self.run(database, sessions) == [["0"]], 10)
        rates = [line.split()[2] for line in ended.stdout.splitlines() if line.startswith("tps = ")]
        failed = [line for line in ended.stdout.splitlines() if "failed transactions: 0 " in line]
        if ended.returncode or not rates or not failed:
            raise BenchError(f"pgbench failed: {ended.stderr.strip()[-500:]}")
        return float(rates[0])
