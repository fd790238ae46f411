"""Waiting for facts, with a bound."""

import time
from collections.abc import Callable


def until(fact: Callable[[], bool], seconds: float, every: float = 0.05) -> float | None:
    """How long it took to come true; None where it did not."""
    began = time.monotonic()
    while not fact():
        if time.monotonic() - began > seconds:
            return None
        time.sleep(every)
    return time.monotonic() - began
