"""Ranks of gloo on this machine learn what one process learns."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.rank_fits import fifty_epochs, fits
from support.ranks import on_ranks

from pine.model.init import start

CLOSE = 1e-4  # of the largest number


@cache
def alone(exact_nodes: int) -> list[dict[str, Any]]:
    return fits(exact_nodes)


def assert_alike(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Vectors, predictions and history in every number; parameters, of which Adam moves those without a gradient by
    rounding alone, as a whole."""
    assert ours["choice"] == theirs["choice"]
    for name, one in theirs.items():
        if name == "choice" or not one.size:
            continue
        assert ours[name].shape == one.shape
        difference = np.abs(ours[name] - one)
        if name.startswith("f."):
            assert np.linalg.norm(difference) <= CLOSE * np.linalg.norm(one), name
        else:
            assert difference.max() <= CLOSE * np.abs(one).max(), name


# NetMF and whitened propagation, as small and as large graphs have them.
@pytest.mark.parametrize(("size", "exact_nodes"), [(2, 4000), (4, 50)])
def test_ranks_learn_what_one_process_learns(size: int, exact_nodes: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(start, "EXACT_NODES", exact_nodes)  # fits change it, here as in their processes
    first, *others = on_ranks(size, fits, exact_nodes)
    for ours, theirs in zip(first, alone(exact_nodes), strict=True):
        assert_alike(ours, theirs)
    for fit in [fit for of_rank in others for fit in of_rank]:
        assert len(fit["x"]) == len(fit["f"]) == len(fit["vectors"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cora", "dblp"])
@pytest.mark.parametrize("size", [2, 4])
def test_fifty_epochs_on_real_graphs_are_those_of_one_process(name: str, size: int, need_data):
    if name == "dblp":
        need_data("dblp-author-term.npz")
    assert_alike(on_ranks(size, fifty_epochs, name)[0], fifty_epochs(name))
