"""How many polls of settled validations a second are answered."""

from .failure import BenchError
from .http import call
from .peers import FastAPI, Nginx
from .postgres import Postgres
from .processes import Process
from .relay import Relay, make_key
from .report import Result, Row
from .rounds import Run, interleave, plain, ratios
from .seed import public_ids, seed
from .stage import Stage
from .wrk import wrk

IDS = 5_000


def measure(stage: Stage, postgres: Postgres) -> Result:
    database = "bench_poll"
    postgres.create(database, "bench_template")
    seed(postgres, database, IDS, settled_share=1)
    ids = public_ids(postgres, database, IDS)
    ids_file = stage.file("poll.ids", "\n".join(ids))
    key = make_key(stage, database)
    key_file = stage.file("poll.key", key)

    with Relay(stage, database, role="front") as relay, FastAPI(stage, database, key) as fastapi:
        status, headers, body = call(
            relay.port, "GET", f"/entitlements/{ids[0]}", headers={"Authorization": f"Bearer {key}"}
        )
        if status != 200 or '"status":"granted"' not in body:
            raise BenchError(f"a settled validation is answered {status} {body[:200]}")
        with Nginx(stage, headers, body) as nginx:

            def run(service: Process, port: int, name: str) -> Run:
                before = service.cpu_seconds(), postgres.cpu_seconds()
                load = wrk(stage, "poll.lua", port, ids_file, key_file)
                after = service.cpu_seconds(), postgres.cpu_seconds()
                cpu = {who: (b - a) / load.requests * 1e6 for who, a, b in zip((name, "PostgreSQL"), before, after)}
                return Run(load.per_second, load.p50_ms, load.p99_ms, cpu)

            contenders = {
                "relay": lambda: run(relay, relay.port, "relay"),
                "nginx": lambda: run(nginx, nginx.port, "nginx"),
                "FastAPI": lambda: run(fastapi, fastapi.port, "FastAPI"),
            }
            for warm in contenders.values():
                warm()
            runs = interleave(stage.rounds, contenders)
    return Result(
        [
            Row("poll, settled", "nginx, the same answer from memory", ratios(runs, "relay", "nginx"), 0.4),
            Row("poll, settled", "FastAPI + asyncpg, 2 workers", ratios(runs, "relay", "FastAPI"), 6),
        ],
        {"runs": plain(runs), "answer": {"headers": headers, "body": body}},
    )
