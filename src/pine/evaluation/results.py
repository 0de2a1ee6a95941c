"""The scores of runs, and the file that keeps them: what `pine evaluate --json` writes and goes on from."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pine._internal.files import atomic_write
from pine.errors import InputError, quoted, shortened
from pine.evaluation.protocol import PUBLIC, Ratio

Key = tuple[str, Ratio, int, bool]  # method, ratio, repeat, features


@dataclass(frozen=True)
class Result:
    """One run: what was fitted on which split, its scores and its seconds; features: whether the graph had any."""

    dataset: str
    method: str
    ratio: Ratio
    repeat: int
    scores: dict[str, float]
    seconds: float
    features: bool = False

    @property
    def key(self) -> Key:
        """What tells it from the other runs on its data set."""
        return self.method, self.ratio, self.repeat, self.features

    def as_json(self) -> dict[str, Any]:
        """The flat form of the file."""
        about = {"dataset": self.dataset, "method": self.method, "ratio": self.ratio, "repeat": self.repeat}
        about |= {"features": True} if self.features else {}  # most runs are without
        return about | self.scores | {"seconds": round(self.seconds, 3)}

    @classmethod
    def from_json(cls, run: dict[str, Any]) -> Self:
        """The opposite of as_json."""
        left = dict(run)
        return cls(
            dataset=str(left.pop("dataset")),
            method=str(left.pop("method")),
            ratio=_ratio(left.pop("ratio")),
            repeat=_repeat(left.pop("repeat")),
            seconds=_number("seconds", left.pop("seconds")),
            features=bool(left.pop("features", False)),
            scores={str(name): _number(str(name), score) for name, score in left.items()},
        )


def _ratio(given: Any) -> Ratio:
    if given == PUBLIC:
        return PUBLIC
    ratio = _number("ratio", given)
    if not 0 < ratio < 1:
        raise ValueError(f"ratio must be between 0 and 1, got {quoted(given)}")
    return ratio


def _repeat(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError(f"repeat must be a whole number of at least 0, got {quoted(given)}")
    return given


def _number(name: str, given: Any) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError(f"{shortened(name)} must be a finite number, got {quoted(given)}")
    return float(given)


def write_results(results: Sequence[Result], path: Path) -> None:
    """Write runs as JSON; the file is there whole or not at all."""
    with atomic_write(path) as file:
        file.write(as_text(results).encode())


def as_text(results: Sequence[Result]) -> str:
    """Runs as JSON."""
    return json.dumps([result.as_json() for result in results], indent=1) + "\n"


def read_results(path: Path, dataset: str) -> list[Result]:
    """The runs on one data set that a file holds; none where there is no file yet."""
    if not path.exists():
        return []
    try:
        found = [Result.from_json(run) for run in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(
            f"{path} does not hold runs as --json writes them ({error}); remove it to begin anew"
        ) from error
    other = next((result.dataset for result in found if result.dataset != dataset), None)
    if other is not None:
        raise InputError(f"{path} holds runs on {other}; name another file for those on {dataset}")
    return found
