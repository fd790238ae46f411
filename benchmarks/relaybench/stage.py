"""Where everything is, and how long to measure."""

import os
import random
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    project: Path
    run_folder: Path
    log_prefix: str
    """Logs are LOG_PREFIX with @ replaced by a name."""
    bin_folder: Path
    postgres_programs: Path
    postgres_port: int
    venv: Path
    quick: bool
    rounds: int
    baseline: Path | None = None
    """An older executable, a contender of its own in accept, poll and pursuit."""
    never_analysed: bool = False
    """PostgreSQL plans without statistics: nobody analyses the tables, and autovacuum leaves them alone."""

    def executable(self, database: str) -> Path:
        """Databases whose names end in `_baseline` have the older executable's schema."""
        if self.baseline and database.endswith("_baseline"):
            return self.baseline
        return self.bin_folder / "receipt-relay"

    @property
    def seconds(self) -> float:
        """Of one run of one contender in one round."""
        return 2.0 if self.quick else 5.0

    @property
    def load_folder(self) -> Path:
        return self.project / "benchmarks" / "load"

    @property
    def peers_folder(self) -> Path:
        return self.project / "benchmarks" / "peers"

    def log(self, name: str) -> Path:
        return Path(self.log_prefix.replace("@", name))

    def file(self, name: str, text: str) -> Path:
        """A file of this run that only its user reads."""
        path = self.run_folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    def database_url(self, database: str) -> str:
        return f"postgresql://relay@127.0.0.1:{self.postgres_port}/{database}"


_given: set[int] = set()


def free_port() -> int:
    """Below the range that the kernel hands out to outgoing connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        if port in _given:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port


def bare_environment() -> dict[str, str]:
    """Of the caller's environment only what programs need to run: no setting of the shell reaches a measurement."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
