"""How many purchases a second are taken in for good: each is committed before its 202."""

import time
from collections.abc import Callable
from contextlib import ExitStack

from . import receipts
from .failure import BenchError
from .peers import FastAPI
from .postgres import Postgres
from .processes import Process
from .relay import Relay, make_key
from .report import Result, Row
from .rounds import Run, interleave, over_baseline, plain, ratios
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
    database, old_database = "bench_accept", "bench_accept_baseline"
    databases = [database, *([old_database] if stage.baseline else [])]
    keys = {}
    for each in databases:
        postgres.create_for_bench(each)
        postgres.run(each, BARE)
        keys[each] = make_key(stage, each)
    key_files = {each: stage.file(f"{each}.key", key) for each, key in keys.items()}
    template = stage.file("purchase.template", receipts.template())
    body = "r" * receipts.SIZE
    numbers = iter(range(200_000, 999_999))

    def over_http(service: Process, port: int, name: str, database: str = database) -> Run:
        postgres.clear(database, "bench_bare")
        before = service.cpu_seconds(), postgres.cpu_seconds()
        load = wrk(stage, "accept.lua", port, template, key_files[database], str(next(numbers)))
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

    with ExitStack() as running:
        relay = running.enter_context(Relay(stage, database, role="front"))
        fastapi = running.enter_context(FastAPI(stage, database, keys[database]))
        contenders: dict[str, Callable[[], Run]] = {
            "relay": lambda: over_http(relay, relay.port, "relay"),
            "pgbench, the same rows": lambda: by_pgbench("purchase.pgbench.sql"),
            "FastAPI": lambda: over_http(fastapi, fastapi.port, "FastAPI"),
            "pgbench, one bare row": lambda: by_pgbench("bare.pgbench.sql"),
        }
        if stage.baseline:
            old = running.enter_context(Relay(stage, old_database, role="front"))
            contenders["baseline"] = lambda: over_http(old, old.port, "baseline", old_database)
        for warm in {"relay", "FastAPI", "baseline"} & contenders.keys():
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
            *over_baseline("accept, 8 KiB receipt", runs, "relay"),
        ],
        {"runs": plain(runs)},
    )
