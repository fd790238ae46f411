"""How many polls of settled validations a second are answered."""

from collections.abc import Callable
from contextlib import ExitStack

from .failure import BenchError
from .http import call
from .peers import FastAPI, Nginx
from .postgres import Postgres
from .processes import Process
from .relay import Relay, make_key
from .report import Result, Row
from .rounds import Run, interleave, over_baseline, plain, ratios
from .seed import public_ids, seed
from .stage import Stage
from .wrk import wrk

IDS = 5_000


def measure(stage: Stage, postgres: Postgres) -> Result:
    database, old_database = "bench_poll", "bench_poll_baseline"
    keys, ids, files = {}, {}, {}
    for each in [database, *([old_database] if stage.baseline else [])]:
        postgres.create_for_bench(each)
        seed(postgres, each, IDS, settled_share=1)
        keys[each], ids[each] = make_key(stage, each), public_ids(postgres, each, IDS)
        files[each] = stage.file(f"{each}.ids", "\n".join(ids[each])), stage.file(f"{each}.key", keys[each])

    def answer(relay: Relay, database: str) -> tuple[dict[str, str], str]:
        status, headers, body = call(
            relay.port, "GET", f"/entitlements/{ids[database][0]}", headers={"Authorization": f"Bearer {keys[database]}"}
        )
        if status != 200 or '"status":"granted"' not in body:
            raise BenchError(f"a settled validation is answered {status} {body[:200]}")
        return headers, body

    def run(service: Process, port: int, name: str, database: str = database) -> Run:
        before = service.cpu_seconds(), postgres.cpu_seconds()
        load = wrk(stage, "poll.lua", port, *files[database])
        after = service.cpu_seconds(), postgres.cpu_seconds()
        cpu = {who: (b - a) / load.requests * 1e6 for who, a, b in zip((name, "PostgreSQL"), before, after)}
        return Run(load.per_second, load.p50_ms, load.p99_ms, cpu)

    with ExitStack() as running:
        relay = running.enter_context(Relay(stage, database, role="front"))
        fastapi = running.enter_context(FastAPI(stage, database, keys[database]))
        headers, body = answer(relay, database)
        nginx = running.enter_context(Nginx(stage, headers, body))
        contenders: dict[str, Callable[[], Run]] = {
            "relay": lambda: run(relay, relay.port, "relay"),
            "nginx": lambda: run(nginx, nginx.port, "nginx"),
            "FastAPI": lambda: run(fastapi, fastapi.port, "FastAPI"),
        }
        if stage.baseline:
            old = running.enter_context(Relay(stage, old_database, role="front"))
            answer(old, old_database)
            contenders["baseline"] = lambda: run(old, old.port, "baseline", old_database)
        for warm in contenders.values():
            warm()
        runs = interleave(stage.rounds, contenders)
    return Result(
        [
            Row("poll, settled", "nginx, the same answer from memory", ratios(runs, "relay", "nginx"), 0.4),
            Row("poll, settled", "FastAPI + asyncpg, 2 workers", ratios(runs, "relay", "FastAPI"), 6),
            *over_baseline("poll, settled", runs, "relay"),
        ],
        {"runs": plain(runs), "answer": {"headers": headers, "body": body}},
    )
