"""Row tiles in LLVM's vector types: sums of neighbors' rows kept in half precision, and small matrix products.

Numba's own loops write a sum back to memory for every term; here a tile of it stays in registers. Rows that are
gathered at random are float16 (their bits, in arrays of uint16), which halves the bytes to fetch; sums are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pine._internal.parallel import compiled

NARROW = 16  # rows are as wide as a multiple of this: 16 floats are one AVX-512 register, two of AVX2
WIDE = 64
ROWS = 4  # of a product that are made at a time
AHEAD = 8  # entries before a row's turn to ask for it: most rows come from memory, and few can be waited for at once
CACHE_LINE = 64  # bytes

_INT, _FLOAT, _HALF = ir.IntType(64), ir.FloatType(), ir.HalfType()
_Build = Callable[..., Any]


@compiled
def sum_row(
    row: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any] | None,
    scale: Any,
    x: NDArray[Any],
    out: NDArray[Any],
    at: int,
) -> None:
    """out[at] = scale * sum of w_e x[j] over the entries e of a row, j their columns; x float16, out float32."""
    column = 0
    while column + WIDE <= x.shape[1]:
        _sum_tile(indptr[row], indptr[row + 1], indices, weights, scale, x, out, at, column, WIDE)
        column += WIDE
    while column < x.shape[1]:
        _sum_tile(indptr[row], indptr[row + 1], indices, weights, scale, x, out, at, column, NARROW)
        column += NARROW


@compiled
def multiply(a: NDArray[Any], b: NDArray[Any], out: NDArray[Any]) -> None:
    """out = a b in float32, for a of any strides; rows of a a multiple of ROWS, columns of b of NARROW."""
    for row in range(0, a.shape[0], ROWS):
        column = 0
        while column + WIDE <= b.shape[1]:
            _product_tile(a, b, out, row, column, WIDE)
            column += WIDE
        while column < b.shape[1]:
            _product_tile(a, b, out, row, column, NARROW)
            column += NARROW


@compiled
def copy_row(x: NDArray[Any], row: int, out: NDArray[Any], at: int) -> None:
    """out[at] = x[row], from float32 to float16 or back."""
    for column in range(0, x.shape[1], NARROW):
        _copy_tile(x, row, out, at, column, NARROW)


class _Writer:
    """Pointers, loads and stores of tiles while numba writes a function."""

    def __init__(self, context: Any, builder: Any, given: tuple[Any, ...], values: Any, tile: int) -> None:
        self.context, self.builder, self.given, self.values, self.tile = context, builder, given, values, tile
        self.vector = ir.VectorType(_FLOAT, tile)

    def item(self, which: int, *index: Any) -> Any:
        array = self.context.make_array(self.given[which])(self.context, self.builder, self.values[which])
        return cgutils.get_item_pointer(self.context, self.builder, self.given[which], array, index, wraparound=False)

    def length(self, which: int) -> Any:
        array = self.context.make_array(self.given[which])(self.context, self.builder, self.values[which])
        return self.builder.extract_value(array.shape, 0)

    def index(self, which: int, entry: Any) -> Any:
        number = self.builder.load(self.item(which, entry))
        return self.context.cast(self.builder, number, self.given[which].dtype, types.int64)

    def prefetch(self, which: int, *index: Any) -> None:
        """Ask for the cache lines of a tile, to be read soon."""
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        ask = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        start = self.builder.bitcast(self.item(which, *index), byte)
        size = self.tile * (2 if self.given[which].dtype == types.uint16 else 4)
        for offset in range(0, size, CACHE_LINE):
            line = self.builder.gep(start, [ir.Constant(_INT, offset)])
            self.builder.call(ask, [line, word(0), word(3), word(1)])

    def load(self, which: int, *index: Any) -> Any:
        """A tile that begins at an item, as float32."""
        if self.given[which].dtype == types.uint16:
            pointer = self.builder.bitcast(self.item(which, *index), ir.VectorType(_HALF, self.tile).as_pointer())
            return self.builder.fpext(self.builder.load(pointer, align=2), self.vector)
        pointer = self.builder.bitcast(self.item(which, *index), self.vector.as_pointer())
        return self.builder.load(pointer, align=4)

    def store(self, value: Any, which: int, *index: Any) -> None:
        halves = self.given[which].dtype == types.uint16
        kind = ir.VectorType(_HALF, self.tile) if halves else self.vector
        value = self.builder.fptrunc(value, kind) if halves else value
        pointer = self.builder.bitcast(self.item(which, *index), kind.as_pointer())
        self.builder.store(value, pointer, align=2 if halves else 4)

    def spread(self, number: Any) -> Any:
        """The same float in all lanes."""
        one = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), number, ir.Constant(ir.IntType(32), 0)
        )
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.tile), [0] * self.tile)
        return self.builder.shuffle_vector(one, one, lanes)

    def zeros(self) -> Any:
        total = cgutils.alloca_once(self.builder, self.vector)
        self.builder.store(ir.Constant(self.vector, [0.0] * self.tile), total)
        return total


def _sum_in_llvm(
    context: Any, first: Any, last: Any, indices: Any, weights: Any, scale: Any, x: Any, out: Any, at: Any, column: Any,
    tile: Any,
) -> tuple[Any, _Build]:  # fmt: skip
    given = (types.int64, types.int64, indices, weights, types.float32, x, out, types.int64, types.int64, tile)

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to = _Writer(context, builder, given, values, tile.literal_value)
        first, last, _, _, scale, _, _, at, column, _ = values
        total = to.zeros()
        with cgutils.for_range_slice(builder, first, last, ir.Constant(_INT, 1), intp=_INT) as (entry, _):
            later = builder.add(entry, ir.Constant(_INT, AHEAD))
            later = builder.select(builder.icmp_signed("<", later, to.length(2)), later, entry)
            to.prefetch(5, to.index(2, later), column)
            term = to.load(5, to.index(2, entry), column)
            if weights is not types.none:
                term = builder.fmul(term, to.spread(builder.load(to.item(3, entry))))
            builder.store(builder.fadd(builder.load(total), term), total)
        to.store(builder.fmul(builder.load(total), to.spread(scale)), 6, at, column)
        return context.get_dummy_value()

    return types.void(*given), write


def _product_in_llvm(context: Any, a: Any, b: Any, out: Any, row: Any, column: Any, tile: Any) -> tuple[Any, _Build]:
    """out[row : row + ROWS, column : column + tile] = a[row : row + ROWS] b[:, column : column + tile]."""
    given = (a, b, out, types.int64, types.int64, tile)

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to = _Writer(context, builder, given, values, tile.literal_value)
        row, column = values[3:5]
        rows = [builder.add(row, ir.Constant(_INT, k)) for k in range(ROWS)]
        totals = [to.zeros() for _ in rows]
        # One instruction where the machine has it, two where not.
        kind = ir.FunctionType(to.vector, [to.vector] * 3)
        fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{to.tile}f32")
        with cgutils.for_range_slice(builder, ir.Constant(_INT, 0), to.length(1), ir.Constant(_INT, 1), intp=_INT) as (
            k,
            _,
        ):
            other = to.load(1, k, column)
            for each, total in zip(rows, totals, strict=True):
                factor = to.spread(builder.load(to.item(0, each, k)))
                builder.store(builder.call(fused, [factor, other, builder.load(total)]), total)
        for each, total in zip(rows, totals, strict=True):
            to.store(builder.load(total), 2, each, column)
        return context.get_dummy_value()

    return types.void(*given), write


def _copy_in_llvm(context: Any, x: Any, row: Any, out: Any, at: Any, column: Any, tile: Any) -> tuple[Any, _Build]:
    given = (x, types.int64, out, types.int64, types.int64, tile)

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to = _Writer(context, builder, given, values, tile.literal_value)
        _, row, _, at, column, _ = values
        to.store(to.load(0, row, column), 2, at, column)
        return context.get_dummy_value()

    return types.void(*given), write


_sum_tile: Any = intrinsic(prefer_literal=True)(_sum_in_llvm)
_product_tile: Any = intrinsic(prefer_literal=True)(_product_in_llvm)
_copy_tile: Any = intrinsic(prefer_literal=True)(_copy_in_llvm)
