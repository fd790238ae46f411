"""The relay and the stand-in for Cleeng, as processes."""

import re
import subprocess

from .failure import BenchError
from .http import answers, call
from .processes import Process
from .stage import Stage, bare_environment, free_port

TOKEN = "benchmark"


class Simulator(Process):
    def __init__(self, stage: Stage, name: str = "simulator", grant_after: float = 0, keep_requests: int = 100_000):
        self.port = free_port()
        super().__init__(
            stage,
            name,
            [
                str(stage.bin_folder / "cleeng-simulator"),
                "--port",
                str(self.port),
                "--publisher-token",
                TOKEN,
                "--grant-after",
                str(grant_after),
                "--keep-requests",
                str(keep_requests),
            ],
            order=2,
        )
        self.await_ready(lambda: answers(self.port, "/healthz"))


def environment(stage: Stage, database: str, simulator_port: int = 9, **settings: str) -> dict[str, str]:
    """Where no pursuit runs, the upstream is a port on which nobody listens."""
    upstream = f"http://127.0.0.1:{simulator_port}"
    return {
        "RELAY_DATABASE_URL": stage.database_url(database),
        "RELAY_CLEENG_PUBLISHER_TOKEN": TOKEN,
        "RELAY_CLEENG_PAYMENT_URL": upstream,
        "RELAY_CLEENG_API_URL": upstream,
        "RELAY_CLEENG_STOREKIT2_URL": upstream,
        "RELAY_HTTP_HOST": "127.0.0.1",
        "RELAY_OPS_HOST": "127.0.0.1",
        # The receipts are made up, and none of the others looks at signatures: what that costs is measured apart.
        "RELAY_APPLE_VERIFICATION": "off",
    } | settings


def command(stage: Stage, database: str, *arguments: str) -> str:
    """What a command of the executable prints."""
    ended = subprocess.run(
        [str(stage.executable(database)), *arguments],
        env=bare_environment() | environment(stage, database),
        capture_output=True,
        text=True,
        timeout=120,
    )
    if ended.returncode:
        raise BenchError(f"receipt-relay {arguments[0]} failed: {(ended.stderr or ended.stdout).strip()[-500:]}")
    return ended.stdout.strip()


def make_key(stage: Stage, database: str, role: str = "app") -> str:
    publisher = "all" if role.startswith("ops-") else "main"
    return command(stage, database, "keys", "create", "--role", role, "--name", "benchmark", "--publisher", publisher)


class Relay(Process):
    def __init__(
        self, stage: Stage, database: str, role: str = "all", simulator: Simulator | None = None, **settings: str
    ):
        self.port, self.ops_port = free_port(), free_port()
        super().__init__(
            stage,
            f"{database.removeprefix('bench_')}-{role}-relay",
            [str(stage.executable(database)), "serve", "--role", role],
            environment(
                stage,
                database,
                simulator.port if simulator else 9,
                RELAY_HTTP_PORT=str(self.port),
                RELAY_OPS_PORT=str(self.ops_port),
                **settings,
            ),
        )
        self.await_ready(lambda: answers(self.ops_port, "/readyz"))

    def metrics(self) -> dict[str, float]:
        """Every sample of /metrics by its name and labels, as they are printed."""
        status, _, text = call(self.ops_port, "GET", "/metrics")
        if status != 200:
            raise BenchError(f"{self.name} shows no metrics")
        samples = re.findall(r"^([a-zA-Z_:][^\s{]*(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE)
        return {name: float(value) for name, value in samples}
