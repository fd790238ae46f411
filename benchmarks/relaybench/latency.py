"""From Cleeng's grant to the app's knowledge, beyond the read that saw it."""

import contextlib
import json
from datetime import datetime

from . import receipts
from .failure import BenchError
from .http import call
from .load import pursue
from .postgres import Postgres
from .relay import Relay, Simulator, make_key
from .report import Result, Row, say
from .rounds import median
from .stage import Stage

# Reads come closer together than in a deployment, so that there are enough of them; what is measured begins when a read
# has ended, and does not depend on it.
INTERVAL = "0.5"
WIDTH = 8
EMAIL = "wait-{digits}+after-1250ms@example.test"


def read_ends(simulator: Simulator) -> dict[str, float]:
    """When each customer's last entitlement read ended: the one that saw the grant. Seconds since 1970."""
    ends, after = {}, 0
    while True:
        path = f"/_simulator/requests?path=/3.1/entitlements&after={after}"
        page = json.loads(call(simulator.port, "GET", path)[2])
        for item in page["items"]:
            if item["endedAt"]:
                ends[item["customerEmail"]] = datetime.fromisoformat(item["endedAt"].replace("Z", "+00:00")).timestamp()
        if "nextAfter" not in page or page["nextAfter"] is None:
            return ends
        after = page["nextAfter"]


def measure(stage: Stage, postgres: Postgres) -> Result:
    template = stage.file("latency.template", receipts.template(EMAIL))
    count = WIDTH * (4 if stage.quick else 10)
    first = 2_000_000_000
    with contextlib.ExitStack() as stack:
        shapes = {}
        for name, roles in {"one process": ["all"], "front and worker apart": ["front", "worker"]}.items():
            database = "bench_latency_" + "_".join(roles)
            postgres.create(database, "bench_template")
            key_file = stage.file(f"{database}.key", make_key(stage, database))
            simulator = stack.enter_context(Simulator(stage, f"latency-{roles[0]}-simulator"))
            relays = [
                stack.enter_context(Relay(stage, database, role, simulator, RELAY_POLL_INTERVAL_SECONDS=INTERVAL))
                for role in roles
            ]
            shapes[name] = (relays[0], simulator, key_file)
        medians: dict[str, list[float]] = {name: [] for name in shapes}
        everything: dict[str, list[float]] = {name: [] for name in shapes}
        for number in range(stage.rounds):
            for name, (front, simulator, key_file) in shapes.items():
                call(simulator.port, "DELETE", "/_simulator/requests")
                done = pursue(stage, front.port, key_file, template, first, WIDTH, count=count)
                first += count
                ends = read_ends(simulator)
                beyond = []
                for sample in done.samples:
                    email = EMAIL.replace("{digits}", sample["number"])
                    if email not in ends:
                        raise BenchError(f"the simulator knows no read of {email}")
                    beyond.append(sample["knownAt"] / 1e3 - ends[email] * 1e3)
                medians[name].append(median(beyond))
                everything[name] += beyond
                say(f"round {number + 1}  {name:<24} median {median(beyond):.1f} ms, most {max(beyond):.1f} ms")
    return Result(
        [
            Row(
                "grant to app, held poll",
                "beyond the read, one process",
                medians["one process"],
                at_most=10,
                unit=" ms",
            ),
            Row(
                "grant to app, held poll",
                "beyond the read, front and worker apart",
                medians["front and worker apart"],
                at_most=250,
                unit=" ms",
            ),
        ],
        {"milliseconds": everything},
    )
