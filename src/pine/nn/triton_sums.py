"""Fast sums over compressed rows on a GPU: out[v] = r_v * (sum of w_e s_j x[j] over the entries e of row v).

Rows are cut into pieces of at most `longest` entries, so that a node with millions of neighbors keeps no one waiting: a
row of one piece is written at once; the sums of the pieces of a longer one become rows behind the output, and are added
up by the same kernel in the next round. Every sum has a fixed order, so the same input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from torch import Tensor

from pine.graph.csr import CSR
from pine.nn.triton_device import kernel, on_device_of

LONGEST = 64  # with longer pieces a small graph waits for its hubs
FEW_PIECES = 200_000  # too few to hide that the next entries wait for those before


@dataclass(frozen=True)
class Round:
    """Pieces of rows: piece p has the entries cut[p] to cut[p + 1], and its sum goes to row place[p] (None: row p)."""

    cut: Tensor
    place: Tensor | None


class TritonRows:
    """Sums over the rows of a matrix of compressed rows, prepared for one device; x must be float32.

    like: of the same matrix, whose arrays are used again.
    """

    def __init__(
        self,
        csr: CSR,
        row_scale: NDArray[np.float64] | None,
        column_scale: NDArray[np.float64] | None,
        device: torch.device,
        longest: int = LONGEST,
        like: TritonRows | None = None,
    ) -> None:
        def there(array: NDArray[Any] | None, dtype: torch.dtype | None = None) -> Tensor | None:
            return None if array is None else torch.tensor(array, device=device, dtype=dtype)

        self.num_rows = csr.num_rows
        self.indices: Tensor = torch.tensor(csr.indices, device=device) if like is None else like.indices
        self.weights = there(csr.weights)
        self.row_scale = there(row_scale, torch.float32)
        if column_scale is not None:
            # w_e s_j in the order of entries: to look s_j up in every sum of 16 columns takes 1.5 times as long.
            each = torch.tensor(column_scale, device=device, dtype=torch.float32).index_select(0, self.indices)
            self.weights = each if self.weights is None else each.mul_(self.weights)
        self.rounds: list[Round] = [] if like is None else like.rounds
        self.rows_written: int = csr.num_rows if like is None else like.rows_written
        if like is not None:
            return
        for cut, place in cut_rows(torch.tensor(csr.indptr, device=device), longest):
            self.rounds.append(Round(cut, place))
            self.rows_written = max(self.rows_written, 0 if place is None else int(place.max()) + 1)

    def total(self, x: Tensor) -> Tensor:
        """(num_columns, width) to (num_rows, width)."""
        if x.stride(-1) != 1:
            x = x.contiguous()
        out = x.new_empty(self.rows_written, x.shape[1])
        if out.numel() == 0:
            return out
        first, *later = self.rounds
        self._sum(first, x, self.indices, self.weights, out)
        for each in later:
            self._sum(each, out, None, None, out)
        return out[: self.num_rows]

    def _sum(self, pieces: Round, x: Tensor, indices: Tensor | None, weights: Tensor | None, out: Tensor) -> None:
        num_pieces, width = len(pieces.cut) - 1, x.shape[1]
        tile = tile_of(width, num_pieces)
        grid = (triton.cdiv(num_pieces, tile["PIECES"]), triton.cdiv(width, tile["COLUMNS"]))
        given = (x, indices, weights, self.row_scale, pieces.cut, pieces.place, out)
        with on_device_of(x):
            _sum_pieces[grid](*given, num_pieces, self.num_rows, width, x.stride(0), **tile)


def tile_of(width: int, num_pieces: int) -> dict[str, int]:
    """How many pieces, entries of each and columns a program has at a time; among the fastest tried on an H200."""
    columns = min(128, max(4, triton.next_power_of_2(width)))
    pieces, entries = max(1, 64 // columns), 8 if columns < 128 else 4
    if columns == 16 and num_pieces < FEW_PIECES:
        pieces, entries = 2, 16
    return {"PIECES": pieces, "ENTRIES": entries, "COLUMNS": columns, "num_warps": 1}


def cut_rows(indptr: Tensor, longest: int) -> list[tuple[Tensor, Tensor | None]]:
    """The cut and place of each round; later rounds' entries are the rows behind the output."""
    degrees, rows = indptr.diff(), None
    end = len(degrees)
    rounds: list[tuple[Tensor, Tensor | None]] = []
    while True:
        pieces = (-(-degrees // longest)).clamp_(min=1)
        if not (pieces > 1).any():
            return [*rounds, (indptr, rows)]
        count = int(pieces.sum())
        nth = torch.arange(count, device=indptr.device) - (pieces.cumsum(0) - pieces).repeat_interleave(pieces)
        cut = torch.cat([indptr[:-1].repeat_interleave(pieces).add_(nth.mul_(longest)), indptr[-1:]])
        long = pieces > 1
        rows = torch.arange(end, device=indptr.device) if rows is None else rows
        place, partial = rows.repeat_interleave(pieces), long.repeat_interleave(pieces)
        place[partial] = torch.arange(end, end + int(partial.sum()), device=indptr.device)
        rounds.append((cut, place))
        degrees, rows = pieces[long], rows[long]
        indptr = torch.cat([degrees.new_zeros(1), degrees.cumsum(0)]).add_(end)
        end = int(indptr[-1])


@kernel
def _sum_pieces(  # type: ignore[no-untyped-def]
    x,
    indices,
    weights,
    row_scale,
    cut,
    place,
    out,
    num_pieces,
    num_rows,
    width,
    stride,
    PIECES: tl.constexpr,
    ENTRIES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    piece = tl.program_id(0) * PIECES + tl.arange(0, PIECES)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < width
    first = tl.load(cut + piece, mask=piece < num_pieces, other=0)
    last = tl.load(cut + piece + 1, mask=piece < num_pieces, other=0)
    total = tl.zeros((PIECES, ENTRIES, COLUMNS), tl.float32)
    for step in range(0, tl.max(last - first).to(tl.int32), ENTRIES):
        entry = first[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        there = entry < last[:, None]
        j = entry
        if indices is not None:
            j = tl.load(indices + entry, mask=there, other=0).to(tl.int64)
        rows = tl.load(
            x + j[:, :, None] * stride + column[None, None, :],
            mask=there[:, :, None] & inside[None, None, :],
            other=0.0,
        )
        if weights is not None:
            rows *= tl.load(weights + entry, mask=there, other=0.0)[:, :, None]
        total += rows
    sums = tl.sum(total, axis=1)
    row = piece.to(tl.int64)
    if place is not None:
        row = tl.load(place + piece, mask=piece < num_pieces, other=0)
    if row_scale is not None:
        # The sum of a piece is scaled with its row's, in the last round.
        sums *= tl.load(row_scale + row, mask=(piece < num_pieces) & (row < num_rows), other=1.0)[:, None]
    tl.store(out + row[:, None] * width + column[None, :], sums, mask=(piece < num_pieces)[:, None] & inside[None, :])
