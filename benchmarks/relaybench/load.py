"""relay-load: the clients that wrk cannot be."""

import json
import queue
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from .failure import BenchError
from .processes import Process
from .stage import Stage, bare_environment


@dataclass
class Pursuits:
    purchases: int
    per_second: float
    accept_us: dict[str, int]
    settle_us: dict[str, int]
    samples: list[dict]


def pursue(
    stage: Stage,
    port: int,
    key_file: Path,
    template: Path,
    first: int,
    width: int,
    seconds: float | None = None,
    count: int | None = None,
) -> Pursuits:
    """Every purchase must end granted."""
    samples = stage.run_folder / "samples.jsonl"
    bounds = (["--seconds", str(seconds)] if seconds else []) + (["--count", str(count)] if count else [])
    ended = subprocess.run(
        [
            str(stage.bin_folder / "relay-load"),
            "pursue",
            "--port",
            str(port),
            "--key-file",
            str(key_file),
            "--template",
            str(template),
            "--first",
            str(first),
            "--width",
            str(width),
            "--samples",
            str(samples),
            *bounds,
        ],
        env=bare_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if ended.returncode:
        raise BenchError(f"relay-load pursue failed: {(ended.stderr or ended.stdout).strip()[-500:]}")
    result = json.loads(ended.stdout.splitlines()[-1])
    if set(result["statuses"]) != {"granted"}:
        raise BenchError(f"not every purchase was granted: {result['statuses']}")
    return Pursuits(
        result["purchases"],
        result["perSecond"],
        result["accept"],
        result["settle"],
        [json.loads(line) for line in samples.read_text().splitlines()],
    )


class Holders(Process):
    """Clients that hold polls until they are told to leave."""

    def __init__(self, stage: Stage, port: int, key_file: Path, ids_file: Path, count: int, wait: int = 60):
        super().__init__(
            stage,
            "holders",
            [
                str(stage.bin_folder / "relay-load"),
                "hold",
                "--port",
                str(port),
                "--key-file",
                str(key_file),
                "--ids",
                str(ids_file),
                "--count",
                str(count),
                "--wait",
                str(wait),
            ],
            order=5,
            pipes=True,
            stop_seconds=2,
        )
        self._events: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.child.stdout:
            self._events.put(line)
        self._events.put("")

    def event(self, name: str, seconds: float) -> dict:
        """The next thing that it says, which must be this."""
        try:
            line = self._events.get(timeout=seconds)
        except queue.Empty:
            raise BenchError(f"relay-load hold did not say {name} within {seconds:.0f} seconds") from None
        if not line or json.loads(line)["event"] != name:
            raise BenchError(f"relay-load hold: {line or 'it ended'}\n{self.log_tail()}")
        return json.loads(line)

    def leave(self) -> None:
        """Closes every connection without another word to the relay."""
        self.child.stdin.close()
        try:
            self.child.wait(15)
        except subprocess.TimeoutExpired:
            raise BenchError("relay-load hold did not end") from None


class Receivers(Process):
    """Webhook endpoints: ones that answer at once, and ones that never do."""

    def __init__(self, stage: Stage, name: str, answering: int, hanging: int):
        self._samples = stage.run_folder / f"{name}.jsonl"
        super().__init__(
            stage,
            name,
            [
                str(stage.bin_folder / "relay-load"),
                "receive",
                "--answering",
                str(answering),
                "--hanging",
                str(hanging),
                "--samples",
                str(self._samples),
            ],
            order=5,
            pipes=True,
            stop_seconds=2,
        )
        said = self._said("listening")
        self.answering: list[int] = said["answering"]
        self.hanging: list[int] = said["hanging"]

    def _said(self, event: str) -> dict:
        line = self.child.stdout.readline()
        if not line or json.loads(line)["event"] != event:
            raise BenchError(f"relay-load receive: {line or 'it ended'}\n{self.log_tail()}")
        return json.loads(line)

    def take(self) -> tuple[list[dict], str | None]:
        """What has come since this was called last, in its order, and the body of the last one."""
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        last = self._said("received").get("last")
        return [json.loads(line) for line in self._samples.read_text().splitlines()], last
