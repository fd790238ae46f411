"""Whether what is kept slows what comes: the same load over small and large databases."""

import contextlib
from collections.abc import Callable

from . import receipts
from .http import call
from .load import pursue
from .postgres import Postgres
from .relay import Relay, Simulator, make_key
from .report import Result, Row, say
from .rounds import Run, interleave, plain
from .seed import forget_since, public_ids, seed
from .stage import Stage
from .wrk import wrk

SIZES = [1_000, 100_000, 1_000_000]
QUICK_SIZES = [1_000, 10_000, 100_000]
IDS = 1_000
WIDTH = 64


def measure(stage: Stage, postgres: Postgres) -> Result:
    sizes = QUICK_SIZES if stage.quick else SIZES
    template = stage.file("growth.template", receipts.template())
    keys = {}
    for size in sizes:
        database = f"bench_growth_{size}"
        postgres.create(database, "bench_template")
        seed(postgres, database, size)
        stage.file(f"growth.{size}.ids", "\n".join(public_ids(postgres, database, IDS)))
        keys[size] = stage.file(f"growth.{size}.key", make_key(stage, database))
        say(f"{size:,} validations stand, {postgres.size(database)} in all")

    numbers = iter(range(500_000, 999_999))
    firsts = iter(range(4_000_000_000, 9_000_000_000, 10_000_000))

    def compare(run: Callable[[int], Run]) -> dict[str, list[Run]]:
        for size in sizes:
            run(size)
        return interleave(stage.rounds, {f"{size:,}": lambda size=size: run(size) for size in sizes})

    with contextlib.ExitStack() as stack:
        fronts = {size: stack.enter_context(Relay(stage, f"bench_growth_{size}", "front")) for size in sizes}

        def poll(size: int) -> Run:
            load = wrk(stage, "poll.lua", fronts[size].port, stage.run_folder / f"growth.{size}.ids", keys[size])
            return Run(load.per_second, load.p50_ms, load.p99_ms)

        def accept(size: int) -> Run:
            with forget_since(postgres, f"bench_growth_{size}"):
                load = wrk(stage, "accept.lua", fronts[size].port, template, keys[size], str(next(numbers)))
            return Run(load.per_second, load.p50_ms, load.p99_ms)

        say("polls")
        polls = compare(poll)
        say("accepts")
        accepts = compare(accept)

    with contextlib.ExitStack() as stack:
        simulator = stack.enter_context(Simulator(stage, keep_requests=1))
        relays = {
            size: stack.enter_context(Relay(stage, f"bench_growth_{size}", simulator=simulator)) for size in sizes
        }

        def pursuit(size: int) -> Run:
            call(simulator.port, "POST", "/_simulator/reset")
            with forget_since(postgres, f"bench_growth_{size}"):
                done = pursue(
                    stage, relays[size].port, keys[size], template, next(firsts), WIDTH, seconds=stage.seconds
                )
            return Run(done.per_second, done.settle_us["p50"] / 1e3, done.settle_us["p99"] / 1e3)

        say("whole pursuits")
        pursuits = compare(pursuit)

    rows, smallest = [], f"{sizes[0]:,}"
    for what, runs in {"accept": accepts, "poll": polls, "pursuit": pursuits}.items():
        for size in sizes[1:]:
            slower = [small.per_second / large.per_second for small, large in zip(runs[smallest], runs[f"{size:,}"])]
            rows.append(Row(f"growth, {what}", f"{smallest} kept over {size:,} kept", slower, at_most=1.2))
    return Result(rows, {"accept": plain(accepts), "poll": plain(polls), "pursuit": plain(pursuits), "sizes": sizes})
