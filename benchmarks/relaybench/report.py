"""The table at the end, and the same as JSON."""

import statistics
from dataclasses import dataclass, field
from typing import Any


def say(text: str) -> None:
    print(f"    {text}", flush=True)


def step(text: str) -> None:
    print(f"==> {text}", flush=True)


@dataclass
class Row:
    """One line of the table: the values of the rounds, and what was promised of their median."""

    what: str
    over: str
    values: list[float]
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        if self.at_least is not None:
            return self.median >= self.at_least
        if self.at_most is not None:
            return self.median <= self.at_most
        return None

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}{self.unit}"
        if self.at_most is not None:
            return f"≤ {self.at_most:g}{self.unit}"
        return ""

    def number(self, value: float) -> str:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
        return f"{value:.{digits}f}{self.unit}"

    def cells(self) -> list[str]:
        spread = "" if len(self.values) < 2 else f"{self.number(min(self.values))} – {self.number(max(self.values))}"
        verdict = {True: "met", False: "missed", None: ""}[self.met]
        return [self.what, self.over, self.number(self.median), spread, self.target, verdict]

    def plain(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "over": self.over,
            "unit": self.unit.strip(),
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "values": self.values,
            "target": self.target or None,
            "met": self.met,
        }


@dataclass
class Result:
    """What one measurement found."""

    rows: list[Row] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    """For the JSON file only."""


HEADINGS = ["what", "over what", "median", "spread", "target", ""]


def table(rows: list[Row]) -> str:
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    right = {2}
    text = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)
