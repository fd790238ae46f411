"""How many webhooks a second are delivered, and that an endpoint that hangs holds up nobody else's."""

import contextlib
import json
from collections.abc import Callable

from .customers import seed_customers
from .failure import BenchError
from .load import Receivers
from .postgres import Postgres
from .relay import Relay
from .report import Result, Row, say
from .rounds import Run, interleave, plain
from .stage import Stage
from .waiting import until

ANSWERING = 9
TARGET = 1_000
CUSTOMERS = 3_000
WITH, WITHOUT = "one of ten hangs", "nine, none hangs"
SECRET = "whsec_" + "YmVuY2htYXJr" * 3

PREPARE = f"CREATE SEQUENCE bench_change MAXVALUE {CUSTOMERS} CYCLE"
BURST = """
UPDATE customers c
SET changed_at = clock_timestamp(), untold_since = clock_timestamp(), reason = 'RENEWED', version = c.version + 1
FROM (SELECT bucket, username FROM bench_customers ORDER BY n LIMIT {count}) AS b
WHERE c.bucket = b.bucket AND c.publisher = 'main' AND c.username = b.username
"""
# What a change of this run waits for, but for what is only told to who hangs.
OPEN = """
SELECT (SELECT count(*) FROM customers WHERE untold_since IS NOT NULL)
     + (SELECT count(*) FROM webhook_queue q JOIN webhook_endpoints e ON e.id = q.endpoint
        WHERE e.url NOT LIKE '%/hang')
"""
CHANGED = """
SELECT username, (extract(epoch FROM changed_at) * 1000000)::int8 FROM customers WHERE changed_at >= '{since}'
"""
QUEUED = """
SELECT lpad(to_hex(bucket::int), 2, '0') || lpad(to_hex(accepted_on - DATE 'epoch'), 4, '0')
           || replace(id::text, '-', ''),
       (extract(epoch FROM created_at) * 1000000)::int8
FROM webhook_deliveries WHERE created_at >= '{since}'
"""


def at(share: float, values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Stand:
    """A worker, its database, and the endpoints that it tells."""

    def __init__(self, stage: Stage, postgres: Postgres, hanging: int, stack: contextlib.ExitStack):
        self.stage, self.postgres = stage, postgres
        self.database = f"bench_webhooks_{hanging}"
        postgres.create(self.database, "bench_template")
        seed_customers(postgres, self.database, CUSTOMERS, 1)
        postgres.run(self.database, PREPARE)
        self.receivers = stack.enter_context(Receivers(stage, f"receivers-{hanging}", ANSWERING, hanging))
        urls = [f"http://127.0.0.1:{port}/take" for port in self.receivers.answering]
        urls += [f"http://127.0.0.1:{port}/hang" for port in self.receivers.hanging]
        self.relay = stack.enter_context(
            Relay(
                stage,
                self.database,
                role="worker",
                RELAY_WEBHOOK_URLS=",".join(urls),
                RELAY_WEBHOOK_ALLOW_NETWORKS="127.0.0.1",
                RELAY_WEBHOOK_SECRETS=SECRET,
                # So short that tries end within the run: time-outs, the breaker and its probes are a part of it.
                RELAY_WEBHOOK_TIMEOUT_SECONDS="1",
            )
        )
        # An endpoint that is new is told of changes from a second later on. Then each gets its first connections.
        until(lambda: False, 2, every=2)
        self.told(lambda: self.postgres.run(self.database, BURST.format(count=200)))

    def told(self, change: Callable[[], object]) -> tuple[list[dict], dict[str, int], str, float]:
        """What the nine were told of these changes: messages, when each customer was changed, since when, seconds."""
        self.receivers.take()
        since = self.postgres.run(self.database, "SELECT clock_timestamp()")[0][0]
        change()
        if until(lambda: self.postgres.run(self.database, OPEN) == [["0"]], 60, every=0.1) is None:
            raise BenchError("after a minute not every endpoint that answers was told of every change")
        messages, last = self.receivers.take()
        answering = set(self.receivers.answering)
        messages = [message for message in messages if message["port"] in answering]
        rows = self.postgres.run(self.database, CHANGED.format(since=since))
        changed = {username: int(moment) for username, moment in rows}
        self.check(messages, changed, last)
        begin = min(changed.values())
        return messages, changed, since, (max(message["at"] for message in messages) - begin) / 1e6

    def check(self, messages: list[dict], changed: dict[str, int], last: str | None) -> None:
        """Everybody was told of every change, once; what they were told is what the customer has."""
        told = {(message["port"], message["customer"]) for message in messages}
        if len(messages) != len(told) or len(told) != ANSWERING * len(changed):
            raise BenchError(
                f"{len(changed)} changes are {ANSWERING * len(changed)} messages to {ANSWERING} endpoints; "
                f"{len(told)} came, {len(messages) - len(told)} of them twice"
            )
        body = json.loads(last or "{}")
        purchases = body.get("purchases", {})
        number = int(body.get("applicationUsername", "customer-0").rpartition("-")[2]) + 2
        product = purchases.get("apple:com.example.app.product_001", {})
        if (
            body.get("type") != "purchases.updated"
            or body["notification"].get("purchaseId") != f"apple:{200_000_000_000_000 + number}"
            or product.get("purchaseId") != f"apple:{200_000_000_000_000 + number}"
            or len(purchases) != 1
        ):
            raise BenchError(f"a message says {last}")

    def cpu(self) -> dict[str, float]:
        parts = {"relay": self.relay, "PostgreSQL": self.postgres, "receivers": self.receivers}
        return {name: part.cpu_seconds() for name, part in parts.items()}

    def backlog(self) -> Run:
        """All are changed at once: as fast as it goes."""
        count = int(min(CUSTOMERS, TARGET / ANSWERING * 1.5 * self.stage.seconds))
        before = self.cpu()
        messages, _, _, seconds = self.told(lambda: self.postgres.run(self.database, BURST.format(count=count)))
        after = self.cpu()
        each = {name: (after[name] - before[name]) / len(messages) * 1e6 for name in after}
        return Run(len(messages) / seconds, cpu_us=each)

    def paced(self) -> tuple[Run, list[float]]:
        """Changed one by one at the rate of the target: from the change, and from the queue, to each endpoint."""
        script, rate = self.stage.load_folder / "change.pgbench.sql", TARGET / ANSWERING
        before = self.cpu()
        messages, changed, since, seconds = self.told(
            lambda: self.postgres.pgbench(self.database, script, self.stage.seconds, clients=4, rate=rate)
        )
        after = self.cpu()
        rows = self.postgres.run(self.database, QUEUED.format(since=since))
        queued = {identity: int(moment) for identity, moment in rows}
        waited = [(message["at"] - changed[message["customer"]]) / 1e3 for message in messages]
        beyond = [(message["at"] - queued[message["id"].partition(".")[0]]) / 1e3 for message in messages]
        each = {name: (after[name] - before[name]) / len(messages) * 1e6 for name in after}
        return Run(len(messages) / seconds, at(0.5, waited), at(0.99, waited), each), beyond


def measure(stage: Stage, postgres: Postgres) -> Result:
    with contextlib.ExitStack() as stack:
        stands = {
            name: Stand(stage, postgres, hanging, stack) for name, hanging in {WITH: 1, WITHOUT: 0}.items()
        }
        say("as fast as it goes:")
        fast = interleave(stage.rounds, {name: stand.backlog for name, stand in stands.items()})
        beyond: dict[str, list[float]] = {name: [] for name in stands}

        def paced(name: str) -> Run:
            run, waited = stands[name].paced()
            beyond[name].append(at(0.99, waited))
            return run

        say(f"{TARGET} a second, from the change to the delivery:")
        slow = interleave(stage.rounds, {name: lambda name=name: paced(name) for name in stands})
    late = [a.p99_ms / b.p99_ms for a, b in zip(slow[WITH], slow[WITHOUT])]
    what = "webhooks, one of ten hangs"
    return Result(
        [
            Row(what, "deliveries to the other nine", [run.per_second for run in fast[WITH]], TARGET, unit="/s"),
            Row(what, "99th percentile from the change, over nine alone", late, at_most=1.2),
            Row(
                what,
                "the same from the queue",
                [a / b for a, b in zip(beyond[WITH], beyond[WITHOUT])],
            ),
            Row(what, "99th percentile from the change", [run.p99_ms for run in slow[WITH]], unit=" ms"),
            Row(what, "99th percentile from the queue", beyond[WITH], unit=" ms"),
        ],
        {"backlog": plain(fast), "paced": plain(slow), "fromQueueP99": beyond},
    )
