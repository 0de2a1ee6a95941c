"""Dropout of what neighbors see of a node: each coordinate of its vector with a chance of its own.

What is dropped is a hash of a key and the place, on a CPU always and on a GPU where nodes are made block by block
(pine.nn.triton_messages). So blocks can be made in any order, and nothing is kept for the backward pass, where the hash
is made again. A GPU that makes all nodes at once drops by torch's generator.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.parallel import vectorized
from pine.errors import InputError
from pine.graph.sampling.streams import S32, mixed, stream
from pine.nn.functional import dropout
from pine.nn.hidden_layer import layer_is_fast
from pine.nn.threads import empty, over_nodes

ROWS = 4096  # of a part
# Of "lowbias32", a hash of 32 bits (Chris Wellons, hash-prospector).
LOWBIAS_1, LOWBIAS_2 = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
S15, S16 = np.uint32(15), np.uint32(16)


class BlockDropout(NamedTuple):
    """Of the rows from the first on of an array that is made block by block, by a key that draw_key took for all."""

    chance: float
    key: int
    first: int

    def of(self, x: Tensor) -> Tensor:
        """Of x (..., n, M); where it is no CPU, twice in the same way, but not as all rows at once."""
        if not layer_is_fast(x):
            mixed_key = int(np.random.SeedSequence((self.key, self.first)).generate_state(1, np.uint64)[0])
            return dropout(x, self.chance, torch.Generator(x.device).manual_seed(mixed_key))
        numbers = np.arange(self.first, self.first + x.shape[-2])
        return cast(Tensor, _NeighborDropout.apply(x, self.chance, self.key, numbers))  # type: ignore[no-untyped-call]


def neighbor_dropout(
    x: Tensor,
    chance: float,
    generator: torch.Generator | None,
    numbers: NDArray[np.int64] | None = None,
) -> Tensor:
    """Coordinates of x (..., N, M) are 0 with a chance; what is left grows to the same mean.

    numbers: of the rows, by which they draw; None: 0, 1, 2, ... Only on a CPU.
    """
    if chance == 0:
        return x
    if not layer_is_fast(x):
        return dropout(x, chance, generator)
    if generator is None:
        raise InputError("dropout draws from a generator: pass generator=torch.Generator(), or call .eval()")
    return cast(Tensor, _NeighborDropout.apply(x, chance, draw_key(generator), numbers))  # type: ignore[no-untyped-call]


def least_kept(chance: float) -> int:
    """What a hash of 32 bits must reach for a coordinate to stay."""
    return int(min(chance * 2.0**32, 2.0**32 - 1))


def draw_key(generator: torch.Generator) -> int:
    """What one dropout of all rows takes from a generator."""
    return int(torch.randint(2**62, (), generator=generator, device=generator.device))


class _NeighborDropout(torch.autograd.Function):
    """Linear in x and its own transpose: the backward pass is the forward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, chance: float, key: int, numbers: NDArray[np.int64] | None) -> Tensor:
        ctx.mask = chance, key, numbers
        rows = x.detach().reshape(-1, x.shape[-1])
        out = empty(*rows.shape, like=x)
        arrays = numbers, rows.numpy(), out.numpy()
        limit = np.uint32(least_kept(chance))
        over_nodes(lambda lo, hi: _drop(lo, hi, limit, chance, np.uint64(key), *arrays), len(rows), ROWS)
        return out.view(x.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return _NeighborDropout.apply(grad, *ctx.mask), None, None, None  # type: ignore[no-untyped-call]


@vectorized
def _drop(
    lo: int,
    hi: int,
    limit: Any,
    chance: float,
    key: Any,
    numbers: NDArray[np.int64] | None,
    x: NDArray[Any],
    out: NDArray[Any],
) -> None:
    grow = x.dtype.type(1 / (1 - chance))
    zero = x.dtype.type(0)
    for row in range(lo, hi):
        # Two numbers of a row's own, so that no two rows draw alike.
        bits = mixed(stream(key, row if numbers is None else numbers[row]))
        start, salt = np.uint32(bits), np.uint32(bits >> S32)
        for column in range(x.shape[1]):
            drawn = np.uint32(start + np.uint32(column))
            drawn = np.uint32(np.uint32(drawn ^ (drawn >> S16)) * LOWBIAS_1) ^ salt
            drawn = np.uint32(np.uint32(drawn ^ (drawn >> S15)) * LOWBIAS_2)
            drawn = np.uint32(drawn ^ (drawn >> S16))
            out[row, column] = x[row, column] * grow if drawn >= limit else zero
