"""Small functions of tensors: dropout by a generator of one's own, probabilities of a task, sparse matrices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from pine.errors import InputError

FEW_CLASSES = 16  # of more, torch uses vectors itself
SUREST = 1e-7  # probabilities nearer to 0 or 1 count as this in an entropy


def dropout(x: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
    """Values are 0 with a chance, and what is left grows to the same mean."""
    if chance == 0:
        return x
    if generator is None:
        raise InputError("dropout draws from a generator: pass generator=torch.Generator(), or call .eval()")
    return x * kept(x.shape, chance, generator, x)


def kept(shape: Sequence[int], chance: float, generator: torch.Generator, like: Tensor) -> Tensor:
    """What dropout multiplies by: 0 with a chance, else what keeps the mean."""
    drawn = torch.rand(tuple(shape), generator=generator, dtype=like.dtype, device=like.device)
    return drawn.lt_(1 - chance).div_(1 - chance)


def softmax(scores: Tensor, dim: int = -1, *, log: bool = False) -> Tensor:
    """Over a dimension, or its logarithm.

    Of few classes torch's own on a CPU takes one node after the other: 5 times as long as over an earlier dimension.
    """
    across = dim == -1 and scores.device.type == "cpu" and scores.ndim > 1 and scores.shape[-1] < FEW_CLASSES
    given, dim = (scores.mT.contiguous(), -2) if across else (scores, dim)
    made = given.log_softmax(dim) if log else given.softmax(dim)
    return made.mT if across else made


def probabilities(task: str, scores: Tensor, dim: int = -1) -> Tensor:
    """Softmax for classes, one logistic function a label for label sets, numbers as they are; dim: of the outputs."""
    return softmax(scores, dim) if task == "classes" else scores.sigmoid() if task == "label-sets" else scores


def entropy(task: str, p: Tensor) -> Tensor:
    """Of each node's distribution (..., n, num_outputs), or summed over its labels: (..., n)."""
    p = p.clamp(SUREST, 1 - SUREST)
    each = -p * p.log()
    return (each - (1 - p) * (1 - p).log() if task == "label-sets" else each).sum(-1)


def probability_slope(task: str, p: Tensor, slope: Tensor, dim: int = -1) -> Tensor:
    """The gradient in scores of what has a slope in their probabilities p, of the same shape; dim: of the outputs."""
    if task == "numbers":
        return slope
    return p * (1 - p) * slope if task == "label-sets" else p * (slope - (p * slope).sum(dim, keepdim=True))


def entropy_slope(task: str, p: Tensor) -> Tensor:
    """The gradient of each node's entropy in p: (..., n, num_outputs)."""
    inside = p.clamp(SUREST, 1 - SUREST)
    each = -inside.log()
    each = each + (1 - inside).log() if task == "label-sets" else each - 1
    return each * (inside == p)


def sharpened(task: str, p: Tensor, power: float, dim: int = -1) -> Tensor:
    """p^power, normalized over classes (dim), or over a label and its absence: nearer to 0 and 1; numbers stay."""
    if task == "numbers":
        return p
    powers = p.pow(power)
    return powers / (powers.sum(dim, keepdim=True) if task == "classes" else powers + (1 - p).pow(power))


def sparse_matrix(indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """Compressed rows as torch has them, without its warnings that these are in beta state and not checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse")
        return torch.sparse_csr_tensor(indptr, indices, values, size, check_invariants=False)
