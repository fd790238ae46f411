"""Ten thousand polls held at once: what they weigh, what they cost while nothing happens, and how fast all wake."""

import json
import resource
from datetime import datetime
from pathlib import Path

from . import receipts
from .failure import BenchError
from .http import call
from .load import Holders
from .postgres import Postgres
from .processes import connections
from .relay import Relay, Simulator, make_key
from .report import Result, Row, say
from .seed import public_ids, seed
from .stage import Stage
from .waiting import until

MOST = 10_000
HELD = "http_server_held_polls"


class Trial:
    """One relay that holds polls, and what is left when the clients have gone."""

    def __init__(self, relay: Relay, holders: Holders, count: int):
        self.relay, self.holders, self.count = relay, holders, count

    def await_held(self) -> None:
        self.holders.event("open", 60)
        if until(lambda: self.relay.metrics().get(HELD) == self.count, 30) is None:
            raise BenchError(f"of {self.count} polls {self.relay.metrics().get(HELD)} are held")

    def left_over(self) -> int:
        """Polls and connections that are still there ten seconds after the clients have gone."""
        self.holders.leave()
        until(lambda: self.relay.metrics().get(HELD) == 0 and connections(self.relay.port) == 0, 10)
        return int(self.relay.metrics().get(HELD, 0)) + connections(self.relay.port)


def weigh(stage: Stage, database: str, key_file: Path, ids: list[str], count: int) -> dict[str, float]:
    """Polls of as many different validations: memory, CPU while idle, and what is left."""
    ids_file = stage.file("held.ids", "\n".join(ids))
    with Relay(stage, database) as relay:
        key = key_file.read_text()
        # What the first requests of a process load once is not a poll's.
        for validation in ids[:200]:
            call(relay.port, "GET", f"/entitlements/{validation}", headers={"Authorization": f"Bearer {key}"})
        before = relay.resident_kib()
        with Holders(stage, relay.port, key_file, ids_file, count) as holders:
            trial = Trial(relay, holders, count)
            trial.await_held()
            weight = (relay.resident_kib() - before) / count
            cpu, seconds = relay.cpu_seconds(), 3 if stage.quick else 8
            until(lambda: False, seconds, every=seconds)
            idle = (relay.cpu_seconds() - cpu) / seconds * 100
            return {"kib": weight, "idle_percent": idle, "left": trial.left_over()}


def wake(stage: Stage, database: str, key_file: Path, count: int, number: int) -> dict[str, float]:
    """All polls wait for one validation, which Cleeng then grants: from the settlement to the last answer."""
    email = f"wake-{number}+never@example.test"
    headers = {"Authorization": f"Bearer {key_file.read_text()}"}
    with Simulator(stage) as simulator, Relay(
        stage, database, simulator=simulator, RELAY_POLL_INTERVAL_SECONDS="1"
    ) as relay:
        digits = f"{3_000_000_000 + number:015d}"
        body = {
            "customerEmail": email,
            "offerId": receipts.OFFER,
            "receipt": {"transactionId": digits, "receiptData": "TUlJ"},
        }
        accepted = json.loads(call(relay.port, "POST", "/apple/payment", body, headers)[2])
        if "validationId" not in accepted:
            raise BenchError(f"the purchase to wait for was not taken: {accepted}")
        ids_file = stage.file("held.ids", accepted["validationId"])
        with Holders(stage, relay.port, key_file, ids_file, count) as holders:
            trial = Trial(relay, holders, count)
            trial.await_held()
            call(simulator.port, "POST", f"/_simulator/customers/{email}/entitlements", {"offerId": receipts.OFFER})
            answered = holders.event("answered", 70)
            if answered["settled"] != count:
                raise BenchError(f"of {count} held polls {answered['settled']} got their answer: {answered}")
            path = f"/entitlements/{accepted['validationId']}"
            settled = json.loads(call(relay.port, "GET", path, headers=headers)[2])["settledAt"]
            since = datetime.fromisoformat(settled.replace("Z", "+00:00")).timestamp()
            times = {name: at / 1e6 - since for name, at in answered["answeredAt"].items() if name != "count"}
            return {"first": times["min"], "half": times["p50"], "all": times["max"], "left": trial.left_over()}


def measure(stage: Stage, postgres: Postgres) -> Result:
    # The relay keeps 256 descriptors back; clients and relay are processes of their own.
    count = min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1_000)
    if count < MOST:
        say(f"the limit of open files allows {count} held polls only")
    database = "bench_held"
    postgres.create(database, "bench_template")
    seed(postgres, database, count, settled_share=0)
    ids = public_ids(postgres, database, count, status=0)
    key_file = stage.file("held.key", make_key(stage, database))
    weighed, woken = [], []
    for number in range(1 if stage.quick else stage.rounds):
        weighed.append(weigh(stage, database, key_file, ids, count))
        woken.append(wake(stage, database, key_file, count, number))
        weight, times = weighed[-1], {name: took * 1e3 for name, took in woken[-1].items()}
        say(f"round {number + 1}  {weight['kib']:.1f} KiB each, {weight['idle_percent']:.1f} % of a core idle")
        say(f"         woken: first {times['first']:.0f} ms, half {times['half']:.0f} ms, all {times['all']:.0f} ms")
    what = f"{count:,} held polls"
    left = [float(a["left"] + b["left"]) for a, b in zip(weighed, woken)]
    return Result(
        [
            Row(what, "memory of each", [trial["kib"] for trial in weighed], at_most=24, unit=" KiB"),
            Row(what, "CPU while idle, of one core", [trial["idle_percent"] for trial in weighed], unit=" %"),
            Row(what, "settled to the last answer", [trial["all"] for trial in woken], at_most=0.3, unit=" s"),
            Row(what, "left when the clients have gone", left, at_most=0),
        ],
        {"weighed": weighed, "woken": woken},
    )
