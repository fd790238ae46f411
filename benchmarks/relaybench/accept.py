"""How many purchases a second are taken in for good: each is committed before its 202."""

import time

from . import receipts
from .failure import BenchError
from .peers import FastAPI
from .postgres import Postgres
from .processes import Process
from .relay import Relay, make_key
from .report import Result, Row
from .rounds import Run, interleave, plain, ratios
from .stage import Stage
from .wrk import wrk

BARE = """
CREATE TABLE bench_bare (id uuid PRIMARY KEY, body bytea NOT NULL);
ALTER TABLE bench_bare ALTER COLUMN body SET STORAGE EXTERNAL;
"""
KEPT = """
SELECT count(*), count(DISTINCT subscription_key), count(*) FILTER (WHERE receipt_readable) FROM validations
"""


def measure(stage: Stage, postgres: Postgres) -> Result:
    database = "bench_accept"
    postgres.create(database, "bench_template")
    postgres.run(database, BARE)
    key = make_key(stage, database)
    key_file = stage.file("accept.key", key)
    template = stage.file("purchase.template", receipts.template())
    body = "r" * receipts.SIZE
    numbers = iter(range(200_000, 999_999))

    def over_http(service: Process, port: int, name: str) -> Run:
        postgres.clear(database, "bench_bare")
        before = service.cpu_seconds(), postgres.cpu_seconds()
        load = wrk(stage, "accept.lua", port, template, key_file, str(next(numbers)))
        after = service.cpu_seconds(), postgres.cpu_seconds()
        kept, subscriptions, readable = (int(cell) for cell in postgres.run(database, KEPT)[0])
        if not load.requests <= kept == subscriptions == readable:
            raise BenchError(
                f"{name} answered {load.requests} purchases and kept {kept}, of {subscriptions} subscriptions, "
                f"{readable} with a receipt that can be read"
            )
        cpu = {who: (b - a) / kept * 1e6 for who, a, b in zip((name, "PostgreSQL"), before, after)}
        return Run(load.per_second, load.p50_ms, load.p99_ms, cpu)

    def by_pgbench(script: str) -> Run:
        postgres.clear(database, "bench_bare")
        cpu, began = postgres.cpu_seconds(), time.monotonic()
        rate = postgres.pgbench(database, stage.peers_folder / script, stage.seconds, body=body)
        used = postgres.cpu_seconds() - cpu
        return Run(rate, cpu_us={"PostgreSQL": used / (rate * (time.monotonic() - began)) * 1e6})

    with Relay(stage, database, role="front") as relay, FastAPI(stage, database, key) as fastapi:
        contenders = {
            "relay": lambda: over_http(relay, relay.port, "relay"),
            "pgbench, the same rows": lambda: by_pgbench("purchase.pgbench.sql"),
            "FastAPI": lambda: over_http(fastapi, fastapi.port, "FastAPI"),
            "pgbench, one bare row": lambda: by_pgbench("bare.pgbench.sql"),
        }
        for warm in ("relay", "FastAPI"):
            contenders[warm]()
        runs = interleave(stage.rounds, contenders)
    return Result(
        [
            Row(
                "accept, 8 KiB receipt",
                "pgbench -c 8, the same rows",
                ratios(runs, "relay", "pgbench, the same rows"),
                1.5,
            ),
            Row("accept, 8 KiB receipt", "FastAPI + asyncpg, 2 workers", ratios(runs, "relay", "FastAPI"), 5),
            Row("accept, 8 KiB receipt", "pgbench -c 8, one bare row", ratios(runs, "relay", "pgbench, one bare row")),
        ],
        {"runs": plain(runs)},
    )
