"""What the relay is compared with."""

import shutil

from .http import answers
from .processes import Process
from .stage import Stage, free_port

# nginx and the relay name these themselves.
OWN_HEADERS = {"content-length", "content-type", "connection", "date", "server"}


class FastAPI(Process):
    """Two uvicorn workers, uvloop and httptools, no access log."""

    def __init__(self, stage: Stage, database: str, key: str, pool: int = 8):
        self.port = free_port()
        super().__init__(
            stage,
            "fastapi",
            [
                str(stage.venv / "bin" / "python"),
                "-m",
                "uvicorn",
                "service:app",
                "--app-dir",
                str(stage.peers_folder),
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
                "--workers",
                "2",
                "--loop",
                "uvloop",
                "--http",
                "httptools",
                "--no-access-log",
                "--log-level",
                "warning",
                "--backlog",
                "4096",
            ],
            {
                "BENCH_DATABASE_URL": stage.database_url(database),
                "BENCH_KEY": key,
                "BENCH_POOL": str(pool),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            order=4,
        )
        self.await_ready(lambda: answers(self.port, "/healthz"))


class Nginx(Process):
    """Two workers that answer one text to every poll."""

    def __init__(self, stage: Stage, headers: dict[str, str], body: str):
        self.port = free_port()
        added = [
            f"            add_header {name} '{value}';" for name, value in headers.items() if name not in OWN_HEADERS
        ]
        text = (stage.peers_folder / "nginx.conf.template").read_text()
        for place, value in {
            "@folder@": str(stage.run_folder),
            "@port@": str(self.port),
            "@headers@": "\n".join(added),
            "@body@": body,
        }.items():
            text = text.replace(place, value)
        configuration = stage.file("nginx.conf", text)
        program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin") or "nginx"
        super().__init__(stage, "nginx", [program, "-c", str(configuration), "-e", str(stage.log("nginx"))], order=4)
        self.await_ready(lambda: answers(self.port, "/entitlements/x"))
