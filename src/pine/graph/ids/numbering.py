"""Number the nodes of one type while edges stream by: ids become positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.graph.ids.column import Column, as_text
from pine.graph.ids.hash_table import IntInterner, StringInterner
from pine.graph.ids.node_ids import NodeIds

Codes = NDArray[Any]


class UnknownId(Exception):
    """An id that a closed list lacks, and its row."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(row, value)
        self.row, self.value = row, value


class ClosedNumbering:
    """Positions in a list of ids that is given."""

    def __init__(self, ids: NodeIds) -> None:
        self.ids = ids
        self._parts: list[Codes] = []
        self._interner: StringInterner | IntInterner | None = None
        if ids.kind == "str":
            self._interner = StringInterner()
            self._interner.add(ids.values)
        elif ids.kind == "int" and not ids.is_range:
            self._interner = IntInterner()
            self._interner.add(ids.values)

    def add(self, *columns: Column) -> tuple[int, ...]:
        """Take columns that share their rows; returns the indices of their positions in the list that finish gives."""
        for column in (each.as_kind(self.ids.kind) for each in columns):
            if self._interner is not None and column.kind == self.ids.kind:
                found = _join([_narrow(self._interner.add(piece), len(self.ids)) for piece in column.pieces])
            else:
                found = _narrow(self.ids.find(column), len(self.ids))
            if len(found) and found.min() < 0:
                row = int(np.flatnonzero(found < 0)[0])
                raise UnknownId(row, column[row])
            self._parts.append(found)
        return tuple(range(len(self._parts) - len(columns), len(self._parts)))

    def finish(self) -> tuple[NodeIds, list[Codes]]:
        """The ids, and the positions of every column that was added."""
        return self.ids, self._parts


class OpenNumbering:
    """Positions for the ids that the edges themselves name.

    Integers are numbered in ascending order, so that ids 0..n-1 are their own positions; anything else in order of
    first appearance, row by row, source before target.
    """

    def __init__(self) -> None:
        self._parts: list[Column | Codes] = []
        self._order: list[tuple[int, ...]] = []
        self._kinds: set[str] = set()
        self._strings = StringInterner()

    def add(self, *columns: Column) -> tuple[int, ...]:
        """Take columns that share their rows; returns the indices of their positions in the list that finish gives."""
        for column in columns:
            self._kinds.add(column.kind)
            if column.kind == "str":
                # Numbered at once, so that the strings can be freed piece by piece.
                self._parts.append(_join([self._strings.add(piece).astype(np.int32) for piece in _emptied(column)]))
            else:
                self._parts.append(column)
        self._order.append(tuple(range(len(self._parts) - len(columns), len(self._parts))))
        return self._order[-1]

    def finish(self) -> tuple[NodeIds, list[Codes]]:
        """The ids, and the positions of every column that was added."""
        if self._kinds == {"int", "str"} and all(part.written for part in self._parts if isinstance(part, Column)):
            self._write_integers()
        if self._kinds <= {"int"}:
            return _number_ints([part for part in self._parts if isinstance(part, Column)])
        if self._kinds == {"str"}:
            codes = [part for part in self._parts if not isinstance(part, Column)]
            first_seen = _renumber(codes, self._order, self._strings.count)
            return NodeIds("str", self._strings.strings().take(first_seen)), codes
        return self._number_objects()

    def _write_integers(self) -> None:
        """Where some ids of files are text all of them are, whatever lines and files they stand in."""
        for i, part in enumerate(self._parts):
            if isinstance(part, Column):
                text = [self._strings.add(as_text(piece)).astype(np.int32) for piece in _emptied(part)]
                self._parts[i] = _join(text)
        self._kinds = {"str"}

    def _number_objects(self) -> tuple[NodeIds, list[Codes]]:
        strings = self._strings.strings().to_pylist()
        numbers: dict[Any, int] = {}
        codes: list[Codes] = []
        for part in self._parts:
            values = part.objects() if isinstance(part, Column) else [strings[code] for code in part.tolist()]
            codes.append(np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int32))
        values = list(numbers)
        return NodeIds("object", [values[i] for i in _renumber(codes, self._order, len(values))]), codes


def _number_ints(columns: Sequence[Column]) -> tuple[NodeIds, list[Codes]]:
    pieces = [piece for column in columns for piece in column.pieces if len(piece)]
    if not pieces:
        return NodeIds("int", np.empty(0, np.int64)), [np.empty(0, np.int32) for _ in columns]
    lowest, highest = min(int(piece.min()) for piece in pieces), max(int(piece.max()) for piece in pieces)
    span = highest - lowest + 1
    if span <= 4 * sum(map(len, pieces)) + 1024:
        # Dense ids: one table lookup an id.
        present = np.zeros(span, bool)
        for piece in pieces:
            _mark(piece, lowest, present)
        rank: Codes = np.cumsum(present, dtype=_dtype(span))
        rank -= 1
        pieces.clear()
        return NodeIds("int", np.flatnonzero(present) + lowest), [_ranked(column, lowest, rank) for column in columns]
    pieces.clear()
    numbers = IntInterner()
    codes = [_join([numbers.add(piece).astype(np.int32) for piece in _emptied(column)]) for column in columns]
    values = numbers.values()
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return NodeIds("int", values[order]), [rank[code] for code in codes]


def _renumber(codes: Sequence[Codes], order: Sequence[tuple[int, ...]], count: int) -> NDArray[np.int64]:
    """Renumber codes in place by first appearance in rows; returns the old code of every new one."""
    new, old = np.full(count, -1, np.int32), np.empty(count, np.int64)
    seen = 0
    for together in order:
        first, second = codes[together[0]], codes[together[-1]]
        seen = _number_in_order(first, second, len(together) == 2, new, old, seen)
    return old


def _ranked(column: Column, lowest: int, rank: Codes) -> Codes:
    codes = np.empty(len(column), rank.dtype)
    start = 0
    for piece in _emptied(column):
        _rank(piece, lowest, rank, codes[start:])
        start += len(piece)
    return codes


def _emptied(column: Column) -> Iterable[Any]:
    """The pieces of a column, each freed before the next."""
    while column.pieces:
        yield column.pieces.pop(0)


def _dtype(count: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if count <= np.iinfo(np.int32).max else np.int64


def _narrow(positions: Codes, count: int) -> Codes:
    return np.where(positions < count, positions, -1).astype(_dtype(count))


def _join(pieces: Sequence[Codes]) -> Codes:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces) if pieces else np.empty(0, np.int32)


@compiled
def _mark(piece: NDArray[Any], lowest: int, present: NDArray[Any]) -> None:
    for i in range(len(piece)):
        present[piece[i] - lowest] = True


@compiled
def _rank(piece: NDArray[Any], lowest: int, rank: NDArray[Any], codes: NDArray[Any]) -> None:
    for i in range(len(piece)):
        codes[i] = rank[piece[i] - lowest]


@compiled
def _number_in_order(
    first: NDArray[Any], second: NDArray[Any], both: bool, new: NDArray[Any], old: NDArray[Any], seen: int
) -> int:
    for i in range(len(first)):
        for end in range(2 if both else 1):
            codes = first if end == 0 else second
            code = codes[i]
            if new[code] < 0:
                new[code] = seen
                old[seen] = code
                seen += 1
            codes[i] = new[code]
    return seen
