"""What dropout multiplies a coordinate by, within kernels: the hash of pine.nn.neighbor_dropout, bit for bit."""

from __future__ import annotations

from typing import Any

import triton.language as tl

from pine.graph.sampling.streams import FIRST, GOLDEN, SECOND
from pine.nn.neighbor_dropout import LOWBIAS_1, LOWBIAS_2, BlockDropout, least_kept
from pine.nn.triton_device import kernel

GOLDEN_, FIRST_, SECOND_, LOWBIAS_1_, LOWBIAS_2_ = (
    tl.constexpr(int(each)) for each in (GOLDEN, FIRST, SECOND, LOWBIAS_1, LOWBIAS_2)
)


def drop_options(drop: BlockDropout | None) -> dict[str, Any]:
    """What a kernel is compiled for."""
    if drop is None:
        return {"DROP": False, "LIMIT": 0, "GROW": 1.0}
    return {"DROP": True, "LIMIT": least_kept(drop.chance), "GROW": 1 / (1 - drop.chance)}


@kernel
def factor_of(key, n, m, LIMIT: tl.constexpr, GROW: tl.constexpr):  # type: ignore[no-untyped-def]
    """0 or GROW, of coordinates m of nodes n."""
    row = _mixed(n.to(tl.uint64) + GOLDEN_)
    bits = _mixed(_mixed(key.to(tl.uint64) + row))
    drawn = bits.to(tl.uint32) + m.to(tl.uint32)
    drawn = ((drawn ^ (drawn >> 16)) * LOWBIAS_1_) ^ (bits >> 32).to(tl.uint32)
    drawn = (drawn ^ (drawn >> 15)) * LOWBIAS_2_
    drawn = drawn ^ (drawn >> 16)
    return tl.where(drawn >= LIMIT, GROW, 0.0)


@kernel
def _mixed(state):  # type: ignore[no-untyped-def]
    """As pine.graph.sampling.streams.mixed."""
    state = (state ^ (state >> 30)) * FIRST_
    state = (state ^ (state >> 27)) * SECOND_
    return state ^ (state >> 31)
