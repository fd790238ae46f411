"""Whole pursuits a second: accept, claim, baseline read, forward, read, settle, and the app knows."""

import base64
import secrets
from collections.abc import Callable
from contextlib import ExitStack

from . import receipts
from .http import call
from .load import pursue
from .postgres import Postgres
from .relay import Relay, Simulator, make_key
from .report import Result, Row, say
from .rounds import Run, interleave, median, over_baseline, plain, ratios
from .stage import Stage
from .statements import Statements

WIDTH = 128
# By the relay's own histograms: what is counted, and how often it happens to a purchase.
STEPS = {
    "accept, request to 202": 'http_server_request_duration_seconds{method="POST",route="/apple/payment",status="2xx"}',
    "baseline read, read": 'relay_upstream_call_duration_seconds{route="entitlements"}',
    "forward": 'relay_upstream_call_duration_seconds{route="payment"}',
    "single statements": 'postgres_query_duration_seconds{lane="shared"}',
    "calls inside transactions": 'postgres_query_duration_seconds{lane="exclusive"}',
    "accepted to settled": 'relay_time_to_settle_seconds{status="granted"}',
}


def measure(stage: Stage, postgres: Postgres) -> Result:
    database, sealed_database, old_database = "bench_pursuit", "bench_pursuit_sealed", "bench_pursuit_baseline"
    sealing = {"RELAY_ENCRYPTION_KEYS": base64.b64encode(secrets.token_bytes(32)).decode()}
    key_files = {}
    for name in (database, sealed_database, *([old_database] if stage.baseline else [])):
        postgres.create_for_bench(name)
        key_files[name] = stage.file(f"{name}.key", make_key(stage, name))
    template = stage.file("pursuit.template", receipts.template())
    statements = Statements(postgres, database)
    first, purchases, counted = 1_000_000_000, 0, False

    with ExitStack() as running:
        simulator = running.enter_context(Simulator(stage, keep_requests=1))
        plain_relay = running.enter_context(Relay(stage, database, simulator=simulator))
        sealed_relay = running.enter_context(Relay(stage, sealed_database, simulator=simulator, **sealing))

        def run(relay: Relay = plain_relay, name: str = database) -> Run:
            nonlocal first, purchases
            postgres.clear(name)
            call(simulator.port, "POST", "/_simulator/reset")
            if counted:
                statements.track("top")
            parts = {"relay": relay, "PostgreSQL": postgres, "simulator": simulator}
            before = [part.cpu_seconds() for part in parts.values()]
            done = pursue(stage, relay.port, key_files[name], template, first, WIDTH, seconds=stage.seconds)
            after = [part.cpu_seconds() for part in parts.values()]
            first += 10_000_000
            purchases = done.purchases
            cpu = {who: (b - a) / done.purchases * 1e6 for who, a, b in zip(parts, before, after)}
            return Run(done.per_second, done.settle_us["p50"] / 1e3, done.settle_us["p99"] / 1e3, cpu)

        contenders: dict[str, Callable[[], Run]] = {
            "whole pursuits": run,
            "sealed": lambda: run(sealed_relay, sealed_database),
        }
        if stage.baseline:
            old = running.enter_context(Relay(stage, old_database, simulator=simulator))
            contenders["baseline"] = lambda: run(old, old_database)
        for warm in contenders.values():
            warm()
        runs = interleave(stage.rounds, contenders)
        # A round of its own: counting statements costs a little, and the histograms begin at the relay's start.
        counted, before = True, plain_relay.metrics()
        run()
        after, shares = plain_relay.metrics(), statements.shares(purchases)
        statements.track("none")

    steps = []
    for name, histogram in STEPS.items():
        base, _, labels = histogram.partition("{")
        took, count = (
            after.get(f"{base}{part}{{{labels}", 0) - before.get(f"{base}{part}{{{labels}", 0)
            for part in ("_sum", "_count")
        )
        if count:
            steps.append({"step": name, "perPurchase": count / purchases, "meanMilliseconds": took / count * 1e3})
    say("by the relay's own histograms, at this load:")
    for step in steps:
        say(f"  {step['step']:<28} {step['perPurchase']:6.2f} a purchase, {step['meanMilliseconds']:7.2f} ms each")
    if shares:
        say("of PostgreSQL's time in statements (without the flush of single ones):")
        for share in shares[:14]:
            say(
                f"  {share['step']:<28} {share['share']:6.1%}  {share['microsecondsPerPurchase']:6.0f} µs a purchase, "
                f"{share['callsPerPurchase']:.3f} calls"
            )
    made = runs["whole pursuits"]
    cpu = {who: [run.cpu_us[who] for run in made] for who in made[0].cpu_us}
    rows = [Row("whole pursuits", f"a second, {WIDTH} apps at a time", [run.per_second for run in made], unit="/s")]
    rows += [Row("whole pursuits, sealed", "the same without a key", ratios(runs, "sealed", "whole pursuits"), 0.9)]
    rows += over_baseline("whole pursuits", runs, "whole pursuits")
    rows += [Row("CPU of a purchase", who, values, unit=" µs") for who, values in cpu.items()]
    say(f"of all: {', '.join(f'{who} {median(values):.0f} µs' for who, values in cpu.items())}")
    return Result(rows, {"runs": plain(runs), "steps": steps, "statements": shares})
