"""Compressed rows as a sparse matrix of torch."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor


def sparse_matrix(indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """Without torch's warnings that such matrices are in beta state and not checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse")
        return torch.sparse_csr_tensor(indptr, indices, values, size, check_invariants=False)
