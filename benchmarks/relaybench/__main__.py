"""Runs the measurements that scripts/bench asks for, in order, and prints their table."""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import accept, growth, held, latency, poll, purchases, pursuit, verify, webhooks
from .failure import BenchError
from .postgres import Postgres
from .relay import command
from .report import Row, say, step, table
from .stage import Stage

MEASUREMENTS = {
    "accept": (accept.measure, "Taking purchases in"),
    "poll": (poll.measure, "Answering polls of settled validations"),
    "pursuit": (pursuit.measure, "Whole pursuits"),
    "held": (held.measure, "Holding polls"),
    "growth": (growth.measure, "The same with more and more kept"),
    "latency": (latency.measure, "From the grant to the app"),
    "purchases": (purchases.measure, "Telling a publisher what a customer has"),
    "webhooks": (webhooks.measure, "Telling endpoints of changes"),
    "verify": (verify.measure, "Judging receipts, transactions and notifications"),
}
CANNOT_RUN = 3


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="relaybench", allow_abbrev=False)
    for name in (
        "project",
        "run-folder",
        "log-prefix",
        "bin-folder",
        "postgres-programs",
        "postgres-port",
        "venv",
        "json",
    ):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--only", required=True)
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--never-analysed", action="store_true")
    parser.add_argument("--command", required=True, help="as it was typed")
    return parser.parse_args()


def machine(postgres: Postgres) -> dict:
    model = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal:"))
    return {
        "cores": os.cpu_count(),
        "processor": model[0] if model else platform.machine(),
        "memoryMiB": memory // 1024,
        "kernel": platform.release(),
        "postgresql": postgres.version(),
    }


def main() -> int:
    # Python's own way out runs what is to be stopped; what it does not reach, scripts/bench stops.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = arguments()
    stage = Stage(
        Path(given.project),
        Path(given.run_folder),
        given.log_prefix,
        Path(given.bin_folder),
        Path(given.postgres_programs),
        int(given.postgres_port),
        Path(given.venv),
        given.quick,
        given.rounds,
        given.baseline,
        given.never_analysed,
    )
    postgres = Postgres(stage)
    began, rows, details = time.time(), [], {}
    status = 0
    try:
        postgres.create("bench_template")
        command(stage, "bench_template", "migrate", "up")
        if stage.baseline:
            postgres.create("bench_template_baseline")
            command(stage, "bench_template_baseline", "migrate", "up")
        if stage.never_analysed:
            for template in ("bench_template", *(["bench_template_baseline"] if stage.baseline else [])):
                postgres.stop_autovacuum(template)
        for name in given.only.split(","):
            measure, title = MEASUREMENTS[name]
            step(title)
            result = measure(stage, postgres)
            rows += result.rows
            details[name] = result.details
    except (BenchError, OSError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        status = CANNOT_RUN
    if rows:
        show(rows)
        write(given, stage, postgres, rows, details, began)
    return status


def show(rows: list[Row]) -> None:
    print(f"\n{table(rows)}\n", flush=True)
    missed = sum(row.met is False for row in rows)
    say(f"{sum(row.met is True for row in rows)} targets met, {missed} missed")


def write(given, stage: Stage, postgres: Postgres, rows: list[Row], details: dict, began: float) -> None:
    document = {
        "command": given.command,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began),
        "rounds": stage.rounds,
        "quick": stage.quick,
        "neverAnalysed": stage.never_analysed,
        "machine": machine(postgres),
        "rows": [row.plain() for row in rows],
        "details": details,
    }
    Path(given.json).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    say(f"written to {given.json}")


if __name__ == "__main__":
    sys.exit(main())
