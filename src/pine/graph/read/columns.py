"""Which columns of a table of edges are read: source, target, weights; and which are left alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pine.errors import InputError, listed

SOURCE_NAMES = ("source", "src", "from", "u", "head", "start", "node1", "node_1", "id1")
TARGET_NAMES = ("target", "dst", "to", "v", "tail", "end", "node2", "node_2", "id2")
WEIGHT_NAMES = ("weight", "weights")
ID_COLUMNS = ("id", "ids", "node", "node_id", "nodeid", "name")  # of files of labels, nodes, features
# Words that speak of weights, but not clearly enough to use or to ignore a column without being told.
WEIGHT_WORDS = {
    *WEIGHT_NAMES, "w", "wt", "wgt", "n", "num", "number", "count", "counts", "cnt", "freq", "frequency", "times",
    "rating", "ratings", "score", "scores", "stars", "strength", "similarity", "distance", "value", "values", "amount",
    "probability", "prob", "confidence", "capacity",
}  # fmt: skip


@dataclass(frozen=True)
class ReadColumns:
    """What was read of a table: {role: column's name}, and the columns that were not read."""

    origin: str
    used: dict[str, str]
    ignored: tuple[str, ...] = ()
    has_header: bool = True

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return "weights" in self.used

    def __str__(self) -> str:
        names = ", ".join(
            f"{role} {name!r}" if self.has_header else f"{role} {name}" for role, name in self.used.items()
        )
        kind = "" if self.has_header else "no header, columns "
        return f"{self.origin}: {kind}{names}" + (f"; ignored {listed(self.ignored)}" if self.ignored else "")


def edge_columns(
    names: Sequence[str], weights: str | None, source: str | None, target: str | None, origin: str, named: bool = True
) -> tuple[list[int], ReadColumns]:
    """Positions of source, target and, if there are any, weights; named: whether columns have names of their own.

    weights: a column's name, None for none, or "auto": a column called weight. Another one that may be weights must be
    taken or left by name.
    """
    if len(names) < 2:
        raise InputError(f"{origin}: expected at least two columns, source and target, got {listed(names)}")
    lowered = _lowered(names)
    at = list(_ends(names, source, target, origin))
    if weights == "auto":
        at += [lowered.index(name) for name in WEIGHT_NAMES if name in lowered and lowered.index(name) not in at][:1]
        if len(at) == 2:
            _refuse_unclear_weights([name for i, name in enumerate(names) if i not in at], origin, named)
    elif weights is not None:
        at.append(find_column(names, weights, origin))
    used = {role: names[i] for role, i in zip(("source", "target", "weights"), at, strict=False)}
    ignored = tuple(name for i, name in enumerate(names) if i not in at)
    return at, ReadColumns(origin, used, ignored, named)


def find_column(names: Sequence[str], name: str, origin: str) -> int:
    """The position of a column that the user named."""
    if name not in names:
        raise InputError(f"{origin} has no column {name!r}; its columns are {listed(names, 20)}")
    return list(names).index(name)


def _ends(names: Sequence[str], source: str | None, target: str | None, origin: str) -> tuple[int, int]:
    if source is None and target is None:
        return usual_ends(names)
    first = find_column(names, source, origin) if source is not None else _usual(names, SOURCE_NAMES)
    second = find_column(names, target, origin) if target is not None else _usual(names, TARGET_NAMES)
    if first is None or second is None:
        missing = "source" if first is None else "target"
        raise InputError(
            f"{origin} has no column {missing!r}; say which of {listed(names, 20)} it is: {missing}=... (--{missing})"
        )
    if first == second:
        raise InputError(f"{origin}: source and target must be two columns, got {names[first]!r} for both")
    return first, second


def usual_ends(names: Sequence[str]) -> tuple[int, int]:
    """Source and target by their usual names, or else the first two columns."""
    first, second = _usual(names, SOURCE_NAMES), _usual(names, TARGET_NAMES)
    return (0, 1) if first is None or second is None else (first, second)


def _usual(names: Sequence[str], candidates: Sequence[str]) -> int | None:
    lowered = _lowered(names)
    return next((lowered.index(name) for name in candidates if name in lowered), None)


def _lowered(names: Sequence[str]) -> list[str]:
    return [name.strip().lower().lstrip("# ") for name in names]


def _refuse_unclear_weights(others: Sequence[str], origin: str, named: bool) -> None:
    """A column that may hold weights is neither used nor ignored silently."""
    unclear = [name for name in others if not named or WEIGHT_WORDS & set(re.split(r"[^a-z]+", name.lower()))]
    if unclear:
        what = (
            f"column {unclear[0]!r} may be weights" if named else f"column {unclear[0]} has no name and may be weights"
        )
        raise InputError(
            f"{origin}: {what}; use it with weights={unclear[0]!r} (--weight {unclear[0]}), or leave it out with "
            "weights=None (--no-weight)"
        )
