"""wrk with a script, and what it measured."""

import json
import subprocess
from dataclasses import dataclass

from .failure import BenchError
from .stage import Stage, bare_environment


@dataclass
class Load:
    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def wrk(
    stage: Stage, script: str, port: int, *arguments: str, seconds: float | None = None, connections: int = 64
) -> Load:
    """One thread: the clients share the machine with what they measure."""
    seconds = seconds or stage.seconds
    ended = subprocess.run(
        [
            "wrk",
            "-t",
            "1",
            "-c",
            str(connections),
            "-d",
            f"{max(1, round(seconds))}s",
            "--timeout",
            "20s",
            "-s",
            str(stage.load_folder / script),
            f"http://127.0.0.1:{port}",
            "--",
            *map(str, arguments),
        ],
        env=bare_environment(),
        capture_output=True,
        text=True,
        timeout=seconds + 60,
    )
    lines = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    if ended.returncode or not lines:
        raise BenchError(f"wrk failed: {(ended.stderr or ended.stdout).strip()[-500:]}")
    result = json.loads(lines[0].removeprefix("RESULT "))
    if result["refused"] or result["broken"] or not result["requests"]:
        raise BenchError(
            f"of {result['requests']} requests to port {port} {result['refused']} were refused, "
            f"{result['broken']} broke"
        )
    return Load(result["requests"], result["microseconds"] / 1e6, result["p50"] / 1e3, result["p99"] / 1e3)
