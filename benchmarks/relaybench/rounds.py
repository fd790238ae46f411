"""Paired, interleaved rounds: every contender runs once in each, and only figures of the same round are compared."""

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from .report import Row, say


@dataclass
class Run:
    """One contender in one round."""

    per_second: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_us: dict[str, float] = field(default_factory=dict)
    """Microseconds of processor time for each request, by process."""

    def __str__(self) -> str:
        parts = [f"{self.per_second:,.0f}/s"]
        if self.p50_ms is not None:
            parts.append(f"p50 {self.p50_ms:.1f} ms, p99 {self.p99_ms:.1f} ms")
        parts += [f"{name} {value:.0f} µs" for name, value in self.cpu_us.items()]
        return ", ".join(parts)


def interleave(rounds: int, contenders: dict[str, Callable[[], Run]]) -> dict[str, list[Run]]:
    """Who begins changes from round to round, so that nobody always runs after the same other."""
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            run = contenders[name]()
            runs[name].append(run)
            say(f"round {number + 1}  {name:<28} {run}")
    return runs


def ratios(runs: dict[str, list[Run]], name: str, over: str) -> list[float]:
    return [a.per_second / b.per_second for a, b in zip(runs[name], runs[over])]


def over_baseline(what: str, runs: dict[str, list[Run]], name: str) -> list[Row]:
    """The row against an older executable, where one was named."""
    return [Row(what, "the baseline", ratios(runs, name, "baseline"))] if "baseline" in runs else []


def plain(runs: dict[str, list[Run]]) -> dict[str, list[dict]]:
    return {name: [asdict(run) for run in made] for name, made in runs.items()}


def median(values: list[float]) -> float:
    return statistics.median(values)
