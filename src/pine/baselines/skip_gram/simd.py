"""SIMD kernels a . b and y += g x on rows of float32 matrices, in LLVM's vector types and a fixed order of additions.

numba either sums strictly in sequence, or in any order (fastmath), and then bits depend on the machine. Here 16 lanes
are summed in parallel and then reduced by halves: the same order everywhere, and faster than numba's fastmath loop. The
width of rows must be a multiple of LANES.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 16
_INDEX, _LANE = ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_ALIGN = 4  # bytes: rows may start anywhere a float may


def padded(width: int) -> int:
    """The width rounded up to a multiple of LANES."""
    return -(-width // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Zeros that start on a cache line: rows that straddle two take a fifth longer."""
    size = math.prod(shape) * 4
    buffer = np.zeros(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size].view(np.float32).reshape(shape)


def _tiles(context: Any, builder: Any, type: Any, value: Any) -> Any:
    """A loop over the columns of a matrix, LANES at a time."""
    width = builder.extract_value(context.make_array(type)(context, builder, value).shape, 1)
    zero, lanes = ir.Constant(_INDEX, 0), ir.Constant(_INDEX, LANES)
    return cgutils.for_range_slice(builder, zero, width, lanes, intp=_INDEX)


def _at(context: Any, builder: Any, type: Any, value: Any, row: Any, column: Any) -> Any:
    """The pointer to a vector within a row."""
    array = context.make_array(type)(context, builder, value)
    item = cgutils.get_item_pointer(context, builder, type, array, (row, column), wraparound=False)
    return builder.bitcast(item, _VECTOR.as_pointer())


def _dot_in_llvm(context: Any, x: Any, i: Any, y: Any, j: Any) -> tuple[Any, Callable[..., Any]]:
    """x[i] . y[j]."""

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        a, i, b, j = values
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        with _tiles(context, builder, x, a) as (at, _):
            left = builder.load(_at(context, builder, x, a, i, at), align=_ALIGN)
            right = builder.load(_at(context, builder, y, b, j, at), align=_ALIGN)
            builder.store(builder.fadd(builder.load(total), builder.fmul(left, right)), total)
        folded, half = builder.load(total), LANES // 2
        while half:
            lanes = ir.VectorType(_LANE, half)
            lower, upper = (ir.Constant(lanes, list(range(start, start + half))) for start in (0, half))
            pair = (builder.shuffle_vector(folded, folded, lower), builder.shuffle_vector(folded, folded, upper))
            folded, half = builder.fadd(*pair), half // 2
        return builder.extract_element(folded, ir.Constant(_LANE, 0))

    return types.float32(x, types.int64, y, types.int64), write


def _mutual_update_in_llvm(
    context: Any, g: Any, x: Any, i: Any, y: Any, j: Any, count: Any
) -> tuple[Any, Callable[..., Any]]:
    """x[i] += sum of g[k] y[j[k]], and y[j[k]] += g[k] x[i], both from the old values, for k under count."""
    given: tuple[Any, ...] = (g, x, types.int64, y, j, types.int64)

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def item(which: int, k: Any) -> Any:
            array = context.make_array(given[which])(context, builder, values[which])
            return builder.load(cgutils.get_item_pointer(context, builder, given[which], array, [k], wraparound=False))

        _, a, i, b, _, count = values
        total = cgutils.alloca_once(builder, _VECTOR)
        with _tiles(context, builder, x, a) as (at, _):
            own = _at(context, builder, x, a, i, at)
            old = builder.load(own, align=_ALIGN)
            builder.store(old, total)
            with cgutils.for_range(builder, count, intp=_INDEX) as (k, _):
                row = _at(context, builder, y, b, item(4, k), at)
                factor, other = _broadcast(builder, item(0, k)), builder.load(row, align=_ALIGN)
                builder.store(builder.fadd(builder.load(total), builder.fmul(factor, other)), total)
                builder.store(builder.fadd(other, builder.fmul(factor, old)), row, align=_ALIGN)
            builder.store(builder.load(total), own, align=_ALIGN)
        return context.get_dummy_value()

    return types.void(*given), write


def _broadcast(builder: Any, number: Any) -> Any:
    """A vector of the same number."""
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_LANE, LANES), [0] * LANES))


dot: Any = intrinsic(_dot_in_llvm)
mutual_update: Any = intrinsic(_mutual_update_in_llvm)
