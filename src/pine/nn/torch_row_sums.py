"""The same sum as row_sums in torch's own operations, for devices that are not the CPU: gather rows, then add up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph.csr import CSR

# Gathered rows held at a time: 1 GiB of float32.
GATHERED = 1 << 28


class TorchRows:
    """Compressed rows on a device, with the factors of row_sums folded into one weight an entry."""

    def __init__(
        self,
        csr: CSR,
        row_scale: NDArray[np.float64] | None,
        column_scale: NDArray[np.float64] | None,
        device: torch.device,
    ) -> None:
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
        for lo, hi in self._ranges(GATHERED // max(1, x.shape[1])):
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
