"""Plain HTTP calls to what this run has started."""

import http.client
import json
from typing import Any


def call(
    port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, seconds: float = 30
) -> tuple[int, dict[str, str], str]:
    """Status, headers by lower-cased name, body.

    Raises OSError where nobody answers.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        text = None if body is None else body if isinstance(body, str) else json.dumps(body)
        given = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, text, given | (headers or {}))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()


def answers(port: int, path: str) -> bool:
    try:
        return call(port, "GET", path, seconds=2)[0] == 200
    except OSError:
        return False
