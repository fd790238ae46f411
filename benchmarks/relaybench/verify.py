"""What judging a purchase costs, over OpenSSL's checking one bare signature of the same kind."""

import json
import subprocess

from .failure import BenchError
from .postgres import Postgres
from .report import Result, Row, say
from .stage import Stage, bare_environment


def bare(algorithm: str, seconds: int) -> float:
    """Microseconds of one verification by `openssl speed`."""
    ended = subprocess.run(
        ["openssl", "speed", "-mr", "-seconds", str(seconds), algorithm],
        env=bare_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    for line in ended.stdout.splitlines():
        fields = line.split(":")
        # +F2 is RSA and +F4 ECDSA: number, bits, then signatures and verifications a second.
        if fields[0] in ("+F2", "+F4"):
            return 1e6 / float(fields[-1])
    raise BenchError("openssl speed says nothing of " + algorithm)


def judge(stage: Stage, seconds: float) -> dict[str, dict]:
    ended = subprocess.run(
        [str(stage.bin_folder / "relay-load"), "verify", "--seconds", str(seconds)],
        env=bare_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if ended.returncode:
        raise BenchError(f"relay-load verify failed: {ended.stderr.strip()[-500:]}")
    return {found["what"]: found for found in map(json.loads, ended.stdout.splitlines())}


def measure(stage: Stage, postgres: Postgres) -> Result:
    seconds = 1 if stage.quick else 2
    rounds = []
    for number in range(stage.rounds):
        rsa, ecdsa = bare("rsa2048", seconds), bare("ecdsap256", seconds)
        found = judge(stage, seconds)
        rounds.append({"bare": {"RSA 2048": rsa, "ECDSA P-256": ecdsa}, "judged": found})
        say(f"round {number + 1}  bare: RSA 2048 {rsa:.0f} µs, ECDSA P-256 {ecdsa:.0f} µs")
        for what, cost in found.items():
            say(
                f"         {what:<28} {cost['bytes']:7,} bytes: {cost['verified']:.0f} µs, reading alone "
                f"{cost['read']:.0f} µs, the first of a process {cost['first']:.0f} µs"
            )
    rows = []
    for what in rounds[0]["judged"]:
        kind, count = ("RSA 2048", 1) if what.startswith("receipt") else ("ECDSA P-256", 3 if what == "notification" else 1)
        over = f"OpenSSL checking {count} bare {kind} signature{'s' if count > 1 else ''}"
        costs = [(made["judged"][what], made["bare"][kind] * count) for made in rounds]
        rows.append(Row(f"verify, {what}", over, [cost["verified"] / floor for cost, floor in costs]))
        rows.append(Row(f"verify, {what}", "one, on one core", [cost["verified"] for cost, _ in costs], unit=" µs"))
    return Result(rows, {"rounds": rounds})
