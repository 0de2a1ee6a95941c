"""The nearest vectors: exact in blocks whatever their number, and by an index nearly."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import pine.similarity
from pine import InputError
from pine.similarity import ExactNeighbors, UsearchIndex, check_k, check_queries, nearest_without, unit_rows

CPU = torch.device("cpu")


def vectors(count: int, dim: int = 5, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


def by_definition(unit: NDArray[np.float32], queries: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """All cosines, sorted; of equal ones the first."""
    return np.argsort(-(queries @ unit.T), axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_blocks_find_what_a_sort_of_all_cosines_finds(monkeypatch, k):
    monkeypatch.setattr(pine.similarity, "BLOCK_ROWS", 7)
    monkeypatch.setattr(pine.similarity, "BLOCK_QUERIES", 3)
    unit = unit_rows(vectors(40))
    positions, cosines = ExactNeighbors(unit, CPU).nearest(unit[:8], k)
    np.testing.assert_array_equal(positions, by_definition(unit, unit[:8], k))
    np.testing.assert_allclose(cosines, np.take_along_axis(unit[:8] @ unit.T, positions, 1), atol=1e-6)


def test_vectors_that_come_nearer_block_by_block_are_all_seen(monkeypatch):
    monkeypatch.setattr(pine.similarity, "BLOCK_ROWS", 8)
    monkeypatch.setattr(pine.similarity, "MANY", 2)
    angles = np.linspace(1.5, 0, 50)
    unit = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    positions, _ = ExactNeighbors(unit, CPU).nearest(unit[-1:], 20)
    assert positions[0].tolist() == list(range(49, 29, -1))


def test_of_equally_near_vectors_the_first_come_first(monkeypatch):
    monkeypatch.setattr(pine.similarity, "BLOCK_ROWS", 4)
    monkeypatch.setattr(pine.similarity, "MANY", 1)
    same = unit_rows(np.ones((30, 2), np.float32))
    assert ExactNeighbors(same, CPU).nearest(same[:2], 5)[0].tolist() == [[0, 1, 2, 3, 4]] * 2


def test_more_than_there_are_gives_all_there_are():
    unit = unit_rows(vectors(6))
    assert ExactNeighbors(unit, CPU).nearest(unit[:2], 100)[0].shape == (2, 6)
    (found,) = nearest_without(ExactNeighbors(unit, CPU), unit[:1], 100, np.array([0]))
    assert sorted(found[0].tolist()) == [1, 2, 3, 4, 5]


def test_rows_get_unit_length_however_large_or_small_they_are():
    given = vectors(4) * np.array([[1e-30], [1e30], [1.0], [3e-42]], np.float32)
    np.testing.assert_allclose(np.linalg.norm(unit_rows(given), axis=1), 1, atol=1e-5)


def test_zero_nan_and_infinite_vectors_have_cosine_zero_with_all():
    given = vectors(6)
    given[1], given[2, 0], given[3, 1] = 0, np.nan, np.inf
    unit = unit_rows(given)
    assert not unit[1:4].any()
    positions, cosines = ExactNeighbors(unit, CPU).nearest(unit, 6)
    assert np.isfinite(cosines).all()
    assert all(sorted(row) == list(range(6)) for row in positions.tolist())
    for index in INSTALLED:
        assert np.isfinite(index(unit).nearest(unit, 6)[1]).all()


@pytest.mark.parametrize("k", [-1, 0, 2.5, True, "3", None])
def test_a_number_of_neighbors_that_cannot_be_is_refused(k):
    with pytest.raises(InputError, match="k must be a whole number of at least 1, got"):
        check_k(k)


def test_numpys_numbers_are_numbers():
    assert check_k(np.int64(3)) == 3


def test_queries_of_another_length_and_queries_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match=r"vector must have the shape \(3,\), or \(n, 3\) for several, got \(2,\)"):
        check_queries([1.0, 2.0], 3)
    with pytest.raises(InputError, match="vector must be numbers"):
        check_queries(["a", "b", "c"], 3)
    with pytest.raises(InputError, match="vector must be finite"):
        check_queries([1.0, np.nan, 0.0], 3)


INSTALLED = [UsearchIndex] if importlib.util.find_spec("usearch") else []


def test_usearch_finds_nearly_what_comparing_with_all_finds():
    pytest.importorskip("usearch")
    unit = unit_rows(vectors(3000, 16))
    exact, _ = ExactNeighbors(unit, CPU).nearest(unit[:100], 10)
    found, cosines = UsearchIndex(unit).nearest(unit[:100], 10)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact.tolist(), found.tolist(), strict=True)])
    assert recall > 0.9
    np.testing.assert_allclose(cosines, np.take_along_axis(unit[:100] @ unit.T, found, 1), atol=1e-4)


def test_an_index_that_is_not_installed_is_named_with_the_way_to_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(InputError, match=r"index='usearch' needs usearch: pip install 'pine-embedding\[index\]'"):
        UsearchIndex(unit_rows(vectors(3)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_finds_what_the_cpu_finds():
    unit = unit_rows(vectors(100_000, 16))
    here, there = (ExactNeighbors(unit, torch.device(device)).nearest(unit[:5], 10) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(here[1], there[1], atol=1e-4)
