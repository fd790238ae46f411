"""Starting and stopping what is measured, and what /proc says of it.

Each process is recorded in the run's folder in the form of scripts/lib/processes.sh, so that scripts/bench ends it even
where this program cannot.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .failure import BenchError
from .stage import Stage, bare_environment

TICKS = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields behind the name: state is the first, the parent the second."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


class Process:
    def __init__(
        self,
        stage: Stage,
        name: str,
        command: list[str],
        environment: dict[str, str] | None = None,
        order: int = 3,
        pipes: bool = False,
        stop_seconds: float = 12,
    ):
        """`order` is the place in which scripts/bench stops what this program leaves: the highest first."""
        self.name, self.log, self.stop_seconds = name, stage.log(name), stop_seconds
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                command,
                env=bare_environment() | (environment or {}),
                stderr=log,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else log,
                text=pipes,
                start_new_session=True,
            )
        self.pid = self.child.pid
        self._pid_file = stage.run_folder / f"{order}-{name}.pid"
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self._pid_file.write_text(f"{self.pid} {_stat(self.pid)[19]} {boot}\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def await_ready(self, answers: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not answers():
            if self.child.poll() is not None:
                raise BenchError(f"{self.name} ended at its start, see below\n{self.log_tail()}")
            if time.monotonic() > end:
                raise BenchError(f"{self.name} was not ready within {seconds:.0f} seconds\n{self.log_tail()}")
            time.sleep(0.05)

    def log_tail(self, lines: int = 15) -> str:
        with open(self.log, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 1_000 * lines))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def stop(self) -> None:
        if self.child.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.child.wait(self.stop_seconds)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGKILL)
                self.child.wait(5)
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe:
                pipe.close()
        self._pid_file.unlink(missing_ok=True)
        # The relay says a line for each purchase: what a load of them leaves is of no use to anybody.
        self.log.write_text(self.log_tail(200))

    def cpu_seconds(self) -> float:
        return tree_cpu_seconds(self.pid)

    def resident_kib(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise BenchError(f"no memory is known of {self.name}")


def connections(port: int) -> int:
    """How many connections a listener on this port has that it has not closed yet, whatever their clients did."""
    count = 0
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            # State 1 is established, 8 is closed by the client alone; an entry without an inode belongs to nobody.
            if int(fields[1].rpartition(":")[2], 16) == port and fields[3] in ("01", "08") and fields[9] != "0":
                count += 1
    return count


def tree_cpu_seconds(root: int) -> float:
    """User and system time of a process, its descendants, and the ones of them that have ended."""
    parents: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = _stat(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        total += ticks.get(pid, 0)
        waiting += parents.get(pid, [])
    return total / TICKS
