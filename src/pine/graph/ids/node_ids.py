"""The users' own ids of the nodes of one type, and the way from an id to a position and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pine.errors import InputError, quoted
from pine.graph.ids.column import Column, Kind, column, plain
from pine.graph.ids.hash_table import IntInterner, StringInterner


class NodeIds:
    """Distinct ids in node order; find() turns ids into positions."""

    def __init__(self, kind: Kind, values: Any) -> None:
        self.kind = kind
        self.values = values  # int64 array, Arrow string array, or list
        if kind == "int":
            values.flags.writeable = False

    def __reduce__(self) -> Any:  # without what is made of the ids to find them
        return NodeIds, (self.kind, self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> Any:
        return plain(self.values[position], self.kind)

    def to_numpy(self) -> NDArray[Any]:
        """Every id in node order: int64, or object for strings and other things."""
        if self.kind == "int":
            return self.values  # type: ignore[no-any-return]
        array = np.empty(len(self), object)
        array[:] = self.to_list()
        return array

    def to_list(self) -> list[Any]:
        """Every id in node order, as Python objects."""
        return self.as_column().objects()

    def as_column(self) -> Column:
        """The same ids as a column to look up elsewhere."""
        return Column(self.kind, [self.values])

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes) if self.kind != "object" else 8 * len(self)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {value: position for position, value in enumerate(self.to_list())}

    @cached_property
    def is_range(self) -> bool:
        """Whether the ids are 0, 1, ..., n - 1."""
        return len(self) == 0 or bool(
            self.values[0] == 0 and self.values[-1] == len(self) - 1 and (np.diff(self.values) == 1).all()
        )

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.values, kind="stable")
        return order, self.values[order]

    def find(self, wanted: Column) -> NDArray[np.int64]:
        """Positions of ids, -1 where there is no such node: (len(wanted),)."""
        if self.kind == "int" and wanted.kind == "int":
            return _join([self._find_ints(piece) for piece in wanted.pieces])
        if self.kind == "str" and wanted.kind == "str":
            values = self.values.cast(pa.large_string())
            found = [pc.index_in(piece.cast(pa.large_string()), value_set=values) for piece in wanted.pieces]
            return _join([piece.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for piece in found])
        if wanted.kind != "object" and self.kind != "object":
            return np.full(len(wanted), -1, np.int64)
        return np.array([self._positions.get(value, -1) for value in wanted.objects()], np.int64)

    def _find_ints(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.is_range:
            return np.where((wanted >= 0) & (wanted < len(self)), wanted, -1)
        order, ordered = self._sorted
        at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
        return np.where(ordered[at] == wanted, order[at], -1)

    def position(self, node: Any) -> int:
        """Position of one id, -1 where there is no such node."""
        if isinstance(node, float | np.floating) and float(node).is_integer():
            node = int(node)  # 3.0 == 3, as for any Python dictionary
        try:
            return int(self.find(column([node]))[0])
        except InputError:
            return -1

    def first_repeat(self) -> tuple[int, int] | None:
        """Two positions that hold the same id, if there are any."""
        if self.kind == "object":
            numbers: dict[Any, int] = {}
            codes = np.array([numbers.setdefault(value, len(numbers)) for value in self.values], np.int64)
        else:
            codes = (StringInterner() if self.kind == "str" else IntInterner()).add(self.values)
        # Numbered by first appearance, distinct ids are their own positions; the first repeat falls behind.
        behind = np.flatnonzero(codes != np.arange(len(codes)))
        return (int(codes[behind[0]]), int(behind[0])) if len(behind) else None


def ids_from(values: Any) -> NodeIds:
    """A closed list of ids, in the order given; a repeated id is an error."""
    given = column(values)
    if given.kind == "int":
        ids = NodeIds("int", _join(given.pieces).copy())
    elif given.kind == "str":
        ids = NodeIds("str", pa.concat_arrays([piece.cast(pa.large_string()) for piece in given.pieces]))
    else:
        ids = NodeIds("object", given.objects())
    repeat = ids.first_repeat()
    if repeat is not None:
        raise InputError(
            f"node ids must be unique: {quoted(ids[repeat[0]])} stands at positions {repeat[0]} and {repeat[1]}"
        )
    return ids


def _join(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces) if pieces else np.empty(0, np.int64)
