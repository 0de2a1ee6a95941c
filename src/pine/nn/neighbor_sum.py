"""The sum over neighbors: out[v] = s_v * (sum of w_vj x[j] over the neighbors j of v).

s_v is 1 ("sum"), 1 / sqrt(degree of v) ("sqrt") or 1 / degree of v ("mean"); with edge weights w, the degree is their
sum. A node without neighbors gets 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.errors import InputError, one_of
from pine.graph.csr import CSR
from pine.nn.row_sums import TorchRows, row_sums
from pine.nn.threads import own_threads
from pine.nn.triton_device import runs_triton

# The power of the degree that the sum is divided by.
SCALINGS = {"sum": 0.0, "sqrt": 0.5, "mean": 1.0}


def neighbor_sum_reference(x: Tensor, csr: CSR, scaling: str = "sum") -> Tensor:
    """The definition: (num_columns, width) to (num_rows, width), by way of one row an edge."""
    rows, columns = (torch.tensor(array, dtype=torch.int64, device=x.device) for array in (csr.rows(), csr.indices))
    weights = torch.ones(csr.nnz, dtype=torch.float32) if csr.weights is None else torch.tensor(csr.weights)
    w = weights.to(x)[:, None]
    total = x.new_zeros(csr.num_rows, x.shape[1]).index_add(0, rows, w * x.index_select(0, columns))
    degree = x.new_zeros(csr.num_rows, 1).index_add(0, rows, w)
    return total / degree.where(degree > 0, 1).pow(SCALINGS[scaling])


def neighbor_sum(
    x: Tensor, neighbors: CSR | Neighbors, scaling: str | None = None, *, threads: int | None = None
) -> Tensor:
    """Sum the rows of x (num_columns, width) over each node's neighbors: (num_rows, width), differentiable in x.

    Neighbors are given as compressed rows, or as `Neighbors`, which carry their scaling and threads: better for many
    calls. threads (of the CPU path; default: torch's own number) change the time, never a bit of the result.
    """
    if isinstance(neighbors, CSR):
        neighbors = Neighbors.of(neighbors, scaling or "sum", x.device, threads=threads)
    elif scaling is not None and scaling != neighbors.scaling:
        raise InputError(f"these Neighbors were made with scaling {neighbors.scaling!r}, got {scaling!r}; leave it out")
    if x.ndim != 2 or x.shape[0] != neighbors.num_columns:
        raise InputError(
            f"x must have one row per node that can be a neighbor, shape ({neighbors.num_columns}, width), "
            f"got {tuple(x.shape)}"
        )
    if x.device != neighbors.device:
        raise InputError(
            f"x is on {x.device} and the neighbors are on {neighbors.device}; use Neighbors.of(csr, device=x.device)"
        )
    if x.device.type == "cpu" and x.dtype not in (torch.float32, torch.float64):
        raise InputError(f"x must be float32 or float64 on a CPU, got {x.dtype}; use x.float()")
    return cast(Tensor, _NeighborSum.apply(x, neighbors, False))  # type: ignore[no-untyped-call]


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Who the neighbors are, with their scaling, prepared for one device: make it once, use it in every step."""

    csr: CSR
    scaling: str
    device: torch.device
    threads: int | None = None

    @classmethod
    def of(
        cls, csr: CSR, scaling: str = "sum", device: torch.device | str = "cpu", *, threads: int | None = None
    ) -> Neighbors:
        one_of("scaling", scaling, SCALINGS)
        if threads is not None and threads < 1:
            raise InputError(f"threads must be at least 1, or None for torch's own number, got {threads}")
        # "cuda" and "cuda:0" are the same place; tensors answer with the latter.
        place = torch.empty(0, device=device).device
        made = cls(csr, scaling, place, threads)
        _ = made.scale  # so that weights that are no degree are refused here
        return made

    @property
    def num_rows(self) -> int:
        return self.csr.num_rows

    @property
    def num_columns(self) -> int:
        return self.csr.num_columns

    @property
    def num_entries(self) -> int:
        return self.csr.nnz

    @cached_property
    def scale(self) -> NDArray[np.float64] | None:
        """s_v: (num_rows,), or None where it is 1 throughout."""
        power = SCALINGS[self.scaling]
        if power == 0:
            return None
        degree = self.csr.strengths()
        if self.csr.weights is not None and (degree < 0).any():
            row = int(np.argmax(degree < 0))
            raise InputError(
                f"scaling {self.scaling!r} divides by the sum of a node's edge weights, which must not be "
                f"negative, got {degree[row]:g} in row {row}; use scaling 'sum' or other weights"
            )
        return np.asarray(np.where(degree > 0, degree, 1.0) ** -power)

    def total(self, x: Tensor, transposed: bool) -> Tensor:
        """The weighted sum over the rows, or over the columns (transposed), without a gradient."""
        if x.dtype == torch.float32 and runs_triton(self.device):
            return cast(Tensor, self._triton_rows[transposed].total(x))
        if self.device.type != "cpu":
            return self._torch_rows[transposed].total(x)
        csr = self.csr.transposed if transposed else self.csr
        row_scale, column_scale = (None, self.scale) if transposed else (self.scale, None)
        threads = self.threads or own_threads()
        return torch.from_numpy(row_sums(csr, x.contiguous().numpy(), threads, row_scale, column_scale))

    @cached_property
    def _triton_rows(self) -> tuple[Any, Any]:
        from pine.nn.triton_sums import TritonRows  # only where Triton is installed

        rows = TritonRows(self.csr, self.scale, None, self.device)
        like = rows if self.csr.symmetric else None
        return rows, TritonRows(self.csr.transposed, None, self.scale, self.device, like=like)

    @cached_property
    def _torch_rows(self) -> tuple[TorchRows, TorchRows]:
        return (
            TorchRows(self.csr, self.scale, None, self.device),
            TorchRows(self.csr.transposed, None, self.scale, self.device),
        )


class _NeighborSum(torch.autograd.Function):
    """The gradient of a sum over rows is the sum over columns, whose gradient is the sum over rows again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, neighbors: Neighbors, transposed: bool) -> Tensor:
        ctx.neighbors, ctx.transposed = neighbors, transposed
        return neighbors.total(x.detach(), transposed)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _NeighborSum.apply(grad, ctx.neighbors, not ctx.transposed), None, None  # type: ignore[no-untyped-call]
