"""Fast sums over compressed rows: out[v] = r_v * (sum of w_e s_j x[j] over the entries e of row v, j their columns).

On a CPU (row_sums) in LLVM's vector types, because a row's sum must stay in registers: numba's own loops write it back
to memory for every neighbor, which takes 1.4 (64 columns) to 2 (16 columns) times as long on 200K nodes. Elsewhere
(TorchRows) in torch's own operations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.parallel import compiled, over_ranges
from pine.graph.csr import CSR

# More ranges than threads, so that a thread that is held up leaves its work to the others.
RANGES_PER_THREAD = 8
LEAST_WORK = 1 << 21  # additions below which waking threads costs more than it brings


def row_sums(
    csr: CSR,
    x: NDArray[Any],
    threads: int,
    row_scale: NDArray[np.float64] | None = None,
    column_scale: NDArray[np.float64] | None = None,
    least_work: int = LEAST_WORK,
) -> NDArray[Any]:
    """Sum rows of x (num_columns, width), C-ordered floats: (num_rows, width).

    least_work: additions below which one thread does it all.

    A row is summed by one thread in the order of its entries: the same bits for any number of threads.
    """
    # NumPy's memory, not torch's: it asks for huge pages, and first touching small ones takes as long as the sum.
    out = np.empty((csr.num_rows, x.shape[1]), x.dtype)
    arguments: tuple[Any, ...] = (csr.indptr, csr.indices, csr.weights, column_scale, row_scale, x, out)
    if threads < 2 or (csr.nnz + csr.num_rows) * x.shape[1] < least_work:
        _sum_rows(0, csr.num_rows, *arguments)
        return out
    marks = np.searchsorted(csr.indptr, np.linspace(0, csr.nnz, threads * RANGES_PER_THREAD + 1)[1:-1]).tolist()
    over_ranges(_sum_rows, pairwise([0, *marks, csr.num_rows]), threads, *arguments)
    return out


@compiled
def _sum_rows(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any] | None,
    column_scale: NDArray[Any] | None,
    row_scale: NDArray[Any] | None,
    x: NDArray[Any],
    out: NDArray[Any],
) -> None:
    width = x.shape[1]
    for row in range(lo, hi):
        first, last = indptr[row], indptr[row + 1]
        at = 0
        # 64 floats are 4 vector registers. The last tile of an uneven width goes back over columns that are done, to
        # the same bits: a pass over the entries costs more than they do.
        while at + 64 <= width:
            _tile(first, last, indices, weights, column_scale, row_scale, x, out, row, at, 64)
            at += 64
        if width >= 16:
            while at < width:
                _tile(first, last, indices, weights, column_scale, row_scale, x, out, row, min(at, width - 16), 16)
                at += 16
        elif width >= 8:
            while at < width:
                _tile(first, last, indices, weights, column_scale, row_scale, x, out, row, min(at, width - 8), 8)
                at += 8
        elif width >= 4:
            while at < width:
                _tile(first, last, indices, weights, column_scale, row_scale, x, out, row, min(at, width - 4), 4)
                at += 4
        while at < width:
            _tile(first, last, indices, weights, column_scale, row_scale, x, out, row, at, 1)
            at += 1


def _tile_in_llvm(
    context: Any,
    first: Any,
    last: Any,
    indices: Any,
    weights: Any,
    column_scale: Any,
    row_scale: Any,
    x: Any,
    out: Any,
    row: Any,
    at: Any,
    tile: Any,
) -> tuple[Any, Callable[..., Any]]:
    """out[row, at : at + tile], for numba: the signature, and the function that writes the code."""
    given: tuple[Any, ...] = (
        types.int64,
        types.int64,
        indices,
        weights,
        column_scale,
        row_scale,
        x,
        out,
        types.int64,
        types.int64,
        tile,
    )

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first, last, _, _, _, _, _, _, row, at, _ = values
        element = context.get_value_type(x.dtype)
        vector = ir.VectorType(element, tile.literal_value)
        align = context.get_abi_sizeof(element)

        def item(which: int, *index: Any) -> Any:
            array = context.make_array(given[which])(context, builder, values[which])
            return cgutils.get_item_pointer(context, builder, given[which], array, index, wraparound=False)

        def vector_at(which: int, row: Any) -> Any:
            return builder.bitcast(item(which, row, at), vector.as_pointer())

        def times(product: Any, which: int, index: Any) -> Any:
            if given[which] is types.none:
                return product
            factor = context.cast(builder, builder.load(item(which, index)), given[which].dtype, x.dtype)
            factor = builder.insert_element(ir.Constant(vector, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), tile.literal_value), [0] * tile.literal_value)
            return builder.fmul(product, builder.shuffle_vector(factor, factor, lanes))

        total = cgutils.alloca_once(builder, vector)
        builder.store(ir.Constant(vector, [0.0] * tile.literal_value), total)
        one = ir.Constant(ir.IntType(64), 1)
        with cgutils.for_range_slice(builder, first, last, one, intp=ir.IntType(64)) as (entry, _):
            column = context.cast(builder, builder.load(item(2, entry)), indices.dtype, types.int64)
            term = times(times(builder.load(vector_at(6, column), align=align), 3, entry), 4, column)
            builder.store(builder.fadd(builder.load(total), term), total)
        builder.store(times(builder.load(total), 5, row), vector_at(7, row), align=align)
        return context.get_dummy_value()

    return types.void(*given), write


_tile: Any = intrinsic(prefer_literal=True)(_tile_in_llvm)


class TorchRows:
    """The same sum in torch's own operations, for devices that are not the CPU: gather rows, then add up.

    most_gathered: numbers of gathered rows held at a time; 2^28 are 1 GiB of float32.
    """

    def __init__(
        self,
        csr: CSR,
        row_scale: NDArray[np.float64] | None,
        column_scale: NDArray[np.float64] | None,
        device: torch.device,
        most_gathered: int = 1 << 28,
    ) -> None:
        self.most_gathered = most_gathered
        self.shape = (csr.num_rows, csr.num_columns)
        self.start = csr.indptr
        self.indptr = torch.tensor(csr.indptr, device=device)
        self.indices = torch.tensor(csr.indices, device=device)
        self.weights = None if csr.weights is None else torch.tensor(csr.weights, device=device)
        self.row_scale = None if row_scale is None else torch.tensor(row_scale, device=device)
        self.column_scale = None if column_scale is None else torch.tensor(column_scale, device=device)

    def total(self, x: Tensor) -> Tensor:
        """(num_columns, width) to (num_rows, width), a bounded number of gathered rows at a time."""
        if self.column_scale is not None:
            x = x * self.column_scale.to(x.dtype)[:, None]
        out = x.new_empty(self.shape[0], x.shape[1])
        for lo, hi in self._ranges(self.most_gathered // max(1, x.shape[1])):
            first, last = int(self.start[lo]), int(self.start[hi])
            rows = x.index_select(0, self.indices[first:last])
            if self.weights is not None:
                rows *= self.weights[first:last].to(x.dtype)[:, None]
            out[lo:hi] = torch.segment_reduce(rows, "sum", offsets=self.indptr[lo : hi + 1] - first, axis=0, initial=0)
        if self.row_scale is not None:
            out *= self.row_scale.to(x.dtype)[:, None]
        return out

    def _ranges(self, limit: int) -> list[tuple[int, int]]:
        """Ranges of rows with at most limit entries each, or a single row."""
        marks = [0]
        while marks[-1] < self.shape[0]:
            end = int(np.searchsorted(self.start, self.start[marks[-1]] + limit, side="right")) - 1
            marks.append(max(marks[-1] + 1, end))
        return list(pairwise(marks))
