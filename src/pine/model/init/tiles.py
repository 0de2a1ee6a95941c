"""Row tiles in LLVM's vector types: sums of neighbors' rows kept in 16 bits, and small matrix products.

Numba's own loops write a sum back to memory for every term; here a tile of it stays in registers. Rows that are
gathered at random have entries from -1 to 1 in steps of 1 / STEPS (int16), which halves the bytes to fetch and is finer
than float16 is for most of them, on any CPU; sums are float32.
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
ROWS_AT_ONCE = 4  # of a product that are made at a time
AHEAD = 8  # entries before a row's turn to ask for it: most rows come from memory, and few can be waited for at once
CACHE_LINE = 64  # bytes
STEPS = 2**15 - 1  # of a 16-bit entry from 0 to 1

_INT, _WORD, _SHORT, _FLOAT = ir.IntType(64), ir.IntType(32), ir.IntType(16), ir.FloatType()
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
    """out[at] = scale * sum of w_e x[j] over the entries e of a row, j their columns; x int16, out float32."""
    column = 0
    while column + WIDE <= x.shape[1]:
        _sum_tile(indptr[row], indptr[row + 1], indices, weights, scale, x, out, at, column, WIDE)
        column += WIDE
    while column < x.shape[1]:
        _sum_tile(indptr[row], indptr[row + 1], indices, weights, scale, x, out, at, column, NARROW)
        column += NARROW


@compiled
def multiply(a: NDArray[Any], b: NDArray[Any], out: NDArray[Any]) -> None:
    """out = a b in float32, for a of any strides; rows of a a multiple of ROWS_AT_ONCE, columns of b of NARROW."""
    for row in range(0, a.shape[0], ROWS_AT_ONCE):
        column = 0
        while column + WIDE <= b.shape[1]:
            _product_tile(a, b, out, row, column, WIDE)
            column += WIDE
        while column < b.shape[1]:
            _product_tile(a, b, out, row, column, NARROW)
            column += NARROW


@compiled
def copy_row(x: NDArray[Any], row: int, out: NDArray[Any], at: int) -> None:
    """out[at] = x[row], from float32 to int16 or back."""
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
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _WORD, _WORD, _WORD])
        ask = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        start = self.builder.bitcast(self.item(which, *index), byte)
        size = self.tile * self.given[which].dtype.bitwidth // 8
        for offset in range(0, size, CACHE_LINE):
            line = self.builder.gep(start, [ir.Constant(_INT, offset)])
            self.builder.call(ask, [line, _WORD(0), _WORD(3), _WORD(1)])

    def load(self, which: int, *index: Any) -> Any:
        """A tile that begins at an item, as float32; of int16, the number of steps."""
        pointer = self.item(which, *index)
        if self.given[which].dtype == types.float32:
            return self.builder.load(self.builder.bitcast(pointer, self.vector.as_pointer()), align=4)
        pointer = self.builder.bitcast(pointer, ir.VectorType(_SHORT, self.tile).as_pointer())
        steps = self.builder.sext(self.builder.load(pointer, align=2), ir.VectorType(_WORD, self.tile))
        return self.builder.sitofp(steps, self.vector)

    def store(self, value: Any, which: int, *index: Any) -> None:
        """A tile of float32; as int16, to the nearest step."""
        pointer = self.item(which, *index)
        if self.given[which].dtype == types.float32:
            self.builder.store(value, self.builder.bitcast(pointer, self.vector.as_pointer()), align=4)
            return
        # Conversion cuts fractions off: the nearest step is that of half a step more, above zero.
        above = self.builder.fadd(self.builder.fmul(value, self.number(STEPS)), self.number(STEPS + 1.5))
        words = ir.VectorType(_WORD, self.tile)
        steps = self.builder.sub(self.builder.fptosi(above, words), ir.Constant(words, [STEPS + 1] * self.tile))
        shorts = ir.VectorType(_SHORT, self.tile)
        pointer = self.builder.bitcast(pointer, shorts.as_pointer())
        self.builder.store(self.builder.trunc(steps, shorts), pointer, align=2)

    def number(self, value: float) -> Any:
        return ir.Constant(self.vector, [float(value)] * self.tile)

    def spread(self, number: Any) -> Any:
        """The same float in all lanes."""
        one = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), number, ir.Constant(_WORD, 0))
        lanes = ir.Constant(ir.VectorType(_WORD, self.tile), [0] * self.tile)
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
        total = builder.fmul(builder.load(total), to.number(1 / STEPS))
        to.store(builder.fmul(total, to.spread(scale)), 6, at, column)
        return context.get_dummy_value()

    return types.void(*given), write


def _product_in_llvm(context: Any, a: Any, b: Any, out: Any, row: Any, column: Any, tile: Any) -> tuple[Any, _Build]:
    """ROWS_AT_ONCE rows and tile columns of out = a b, from row and column on."""
    given = (a, b, out, types.int64, types.int64, tile)

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to = _Writer(context, builder, given, values, tile.literal_value)
        row, column = values[3:5]
        rows = [builder.add(row, ir.Constant(_INT, k)) for k in range(ROWS_AT_ONCE)]
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
        value = to.load(0, row, column)
        if x.dtype == types.int16:
            value = builder.fmul(value, to.number(1 / STEPS))
        to.store(value, 2, at, column)
        return context.get_dummy_value()

    return types.void(*given), write


_sum_tile: Any = intrinsic(prefer_literal=True)(_sum_in_llvm)
_product_tile: Any = intrinsic(prefer_literal=True)(_product_in_llvm)
_copy_tile: Any = intrinsic(prefer_literal=True)(_copy_in_llvm)
