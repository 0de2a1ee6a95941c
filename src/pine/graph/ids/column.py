"""A column of node ids as it comes from a user: integers, strings, or any hashable objects."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pine.errors import InputError, quoted
from pine.graph.ids.integers import as_integers

Kind = Literal["int", "str", "object"]
# A saved run could not hold them, and they are rarely meant as ids.
NO_IDS = (bytes, bytearray, datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


@dataclass(eq=False)
class Column:
    """Ids in pieces: int64 arrays, Arrow string arrays without nulls, or lists of hashable objects.

    written: they were read from text, which does not tell 7 from "7"; they may become either.
    """

    kind: Kind
    pieces: list[Any]
    written: bool = False

    def __len__(self) -> int:
        return sum(len(piece) for piece in self.pieces)

    def __getitem__(self, i: int) -> Any:
        for piece in self.pieces:
            if i < len(piece):
                return plain(piece[i], self.kind)
            i -= len(piece)
        raise IndexError(i)

    def objects(self) -> list[Any]:
        """Every id as a Python object."""
        if self.kind == "object":
            return [value for piece in self.pieces for value in piece]
        return [value for piece in self.pieces for value in piece.tolist()]

    def as_kind(self, kind: Kind) -> Column:
        """Ids that were read from text, as others are that they are compared with."""
        if not self.written or kind == self.kind or kind == "object":
            return self
        if kind == "str":
            return Column("str", [as_text(piece) for piece in self.pieces], written=True)
        integers = [as_integers(piece) for piece in self.pieces]
        if all(piece is not None for piece in integers):
            return Column("int", integers, written=True)
        return Column("object", [[_as_integer(each) for each in self.objects()]])


def _as_integer(text: str) -> Any:
    integer = as_integers(pa.array([text]))
    return text if integer is None else int(integer[0])


def as_text(integers: NDArray[np.int64]) -> pa.Array:
    """Integers as they are written."""
    return pa.array(integers).cast(pa.string())


def plain(value: Any, kind: Kind) -> Any:
    """One id as a Python object."""
    return int(value) if kind == "int" else str(value) if kind == "str" else value


class MissingId(InputError):
    """An id that is empty or missing; the reader names the file and line of its row."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row}: the id is missing")
        self.row = row


class FractionalId(InputError):
    """A float that is no whole number, or too large to be exact."""

    def __init__(self, row: int, value: float) -> None:
        super().__init__(f"row {row}: node id {value} is no whole number; give ids as text instead")


def column(values: Any) -> Column:
    """Take ids from an array, an Arrow array, a pandas or polars series, or any iterable of hashable objects."""
    if isinstance(values, Column):
        return values
    if isinstance(values, range):
        values = np.arange(values.start, values.stop, values.step)
    if isinstance(values, np.ndarray):
        return _from_numpy(values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _from_arrow(values)
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        try:
            return _from_arrow(pa.chunked_array(values))
        except FractionalId:
            raise
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass  # A pandas series of mixed objects has no Arrow form: take its objects one by one.
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"node ids must be an array or a list, got {quoted(values)}")
    if type(values).__module__.startswith("pandas") and hasattr(values, "isna"):
        missing = np.flatnonzero(np.asarray(values.isna()))
        if len(missing):
            raise MissingId(int(missing[0]))
        return _from_objects(list(values))
    return _from_objects(values if isinstance(values, Sequence) else list(values))


def _from_numpy(values: NDArray[Any]) -> Column:
    if values.ndim != 1:
        raise InputError(f"node ids must be one-dimensional, got shape {values.shape}")
    if values.dtype.kind == "i":
        return Column("int", [np.ascontiguousarray(values, np.int64)])
    if values.dtype.kind == "u":
        if len(values) and values.max() > np.iinfo(np.int64).max:
            raise InputError(f"integer node ids must be below 2**63, got {values.max()}")
        return Column("int", [values.astype(np.int64)])
    if values.dtype.kind == "f":
        return _from_floats(values)
    if values.dtype.kind in "UST":
        try:
            text = values.astype("U") if values.dtype.kind == "S" else values
        except UnicodeDecodeError:
            raise InputError("node ids of bytes must be ASCII; decode them first: np.char.decode(ids)") from None
        return _from_strings(text.tolist())
    if values.dtype.kind == "O":
        return _from_objects(values.tolist())
    raise InputError(f"node ids must be integers, strings or hashable objects, got an array of {values.dtype}")


def _from_floats(values: NDArray[Any]) -> Column:
    """Whole numbers that were stored as floats, as spreadsheets and joins leave them."""
    missing = np.flatnonzero(~np.isfinite(values))
    if len(missing):
        raise MissingId(int(missing[0]))
    fractions = np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= 2.0**53))
    if len(fractions):
        raise FractionalId(int(fractions[0]), values[fractions[0]])
    return Column("int", [values.astype(np.int64)])


def _from_arrow(values: pa.Array | pa.ChunkedArray) -> Column:
    chunked = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if pa.types.is_dictionary(chunked.type):
        chunked = chunked.cast(chunked.type.value_type)
    if chunked.null_count:
        raise MissingId(int(pc.index(chunked.is_null(), True).as_py()))
    kind = chunked.type
    if pa.types.is_integer(kind):
        return Column("int", [_from_numpy(chunk.to_numpy()).pieces[0] for chunk in chunked.chunks])
    if pa.types.is_floating(kind):
        return _from_floats(chunked.to_numpy())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Column("str", chunked.chunks)
    if str(kind) == "string_view":
        return Column("str", chunked.cast(pa.large_string()).chunks)
    if not len(chunked):
        return Column("int", [np.empty(0, np.int64)])
    raise InputError(f"node ids must be integers or text, got a column of {kind}; turn it into text")


def _from_strings(values: list[str]) -> Column:
    try:
        return _from_arrow(pa.array(values, pa.large_string()))
    except UnicodeEncodeError:
        row = next(i for i, value in enumerate(values) if not is_unicode(value))
        raise InputError(f"row {row}: the node id {quoted(values[row])} is no Unicode text") from None


def is_unicode(text: str) -> bool:
    """Whether text can be written down: half of a surrogate pair, as broken decoding leaves it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_objects(values: Sequence[Any]) -> Column:
    """Objects of one plain kind get the compact form; anything else stays as it is."""
    kinds = set(map(type, values))
    whole = (kind is not bool and issubclass(kind, int | np.integer) and not issubclass(kind, NO_IDS) for kind in kinds)
    if kinds and all(whole):
        try:
            return Column("int", [np.array(values, np.int64)])
        except OverflowError:
            return Column("object", [list(values)])
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return _from_strings([str(value) for value in values])
    if not kinds:
        return Column("int", [np.empty(0, np.int64)])
    for row, value in enumerate(values):
        if isinstance(value, NO_IDS):
            raise InputError(
                f"row {row}: node ids must be integers, text or other hashable objects, got {type(value).__name__}; "
                "turn it into text"
            )
        if value is None or (isinstance(value, float) and value != value):
            raise MissingId(row)
        if isinstance(value, str) and not is_unicode(value):
            raise InputError(f"row {row}: the node id {quoted(value)} is no Unicode text")
        try:
            hash(value)
        except TypeError:
            raise InputError(f"row {row}: node ids must be hashable, got {quoted(value)}") from None
    return Column("object", [list(values)])
