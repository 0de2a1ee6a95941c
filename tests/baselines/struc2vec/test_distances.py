"""Structural distances are the cheapest alignments of rings, summed, for all pairs or for those similar in degree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.graphs import graph_of, mirrored_karate, scattered

from pine.baselines.struc2vec.distances import (
    all_pairs,
    pairs_per_node,
    similar_pairs,
    structural_distances,
    warping_distance,
)
from pine.baselines.struc2vec.rings import Rings, RingSizes, find_rings
from pine.graph.csr import CSR

RNG = np.random.default_rng(0)


def rings_of(links: CSR) -> Rings:
    return find_rings(links, RingSizes.of(links, -1, 1), -1, 1)


def warping_reference(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> float:
    """The cheapest of all ways through two rings, by trying each."""

    @cache
    def from_here(i: int, j: int) -> float:
        (d, a), (e, b) = one[i], other[j]
        here = ((max(d, e) + 0.5) / (min(d, e) + 0.5) - 1) * max(a, b)
        onward = [(i + 1, j), (i, j + 1), (i + 1, j + 1)]
        rest = [from_here(*place) for place in onward if place[0] < len(one) and place[1] < len(other)]
        return here + min(rest, default=0.0)

    return from_here(0, 0)


def random_ring() -> list[tuple[int, int]]:
    degrees = np.sort(RNG.choice(12, RNG.integers(1, 7), replace=False))
    return [(int(degree), int(RNG.integers(1, 9))) for degree in degrees]


def warp(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> float:
    degree, count = np.array(one).T
    other_degree, other_count = np.array(other).T
    return warping_distance(degree, count, other_degree, other_count, np.empty(len(other) + 1))


def test_warping_finds_the_cheapest_of_all_ways():
    for _ in range(100):
        one, other = random_ring(), random_ring()
        assert warp(one, other) == pytest.approx(warping_reference(one, other), abs=1e-12)


def test_a_ring_is_at_no_distance_from_itself_and_at_the_same_from_both_sides():
    one, other = [(1, 4), (3, 2), (7, 1)], [(2, 4), (7, 1)]
    assert warp(one, one) == 0
    assert warp(one, other) == pytest.approx(warp(other, one))
    assert warp(one, other) > 0


def test_distances_add_up_over_rings_and_end_where_one_node_has_none():
    rings = rings_of(graph_of(scattered(60)).links())
    pairs = all_pairs(60)
    far = structural_distances(rings, pairs, int(rings.counts().max()), 1)
    for (u, v), found in zip(pairs[::17], far[::17], strict=True):
        together = min(rings.counts()[[u, v]])
        steps = [warping_reference(rings.ring(u, k), rings.ring(v, k)) for k in range(together)]
        np.testing.assert_allclose(found[:together], np.cumsum(steps), rtol=1e-6)
        assert np.isinf(found[together:]).all()


def test_nodes_equal_in_structure_are_at_no_distance_in_any_layer():
    rings = rings_of(graph_of(mirrored_karate()).links())
    mirrored = np.stack([np.arange(34), np.arange(34, 68)], axis=1)
    far = structural_distances(rings, mirrored, int(rings.counts().max()), 1)
    assert (far[np.isfinite(far)] == 0).all()
    others = structural_distances(rings, np.stack([np.arange(34), np.roll(np.arange(34), 5)], axis=1), 2, 1)
    assert others.shape == (34, 2)
    assert (others[:, 1] > 0).mean() > 0.9


# ---- which pairs ----


def chosen_reference(degrees: np.ndarray, node: int) -> list[int]:
    """By distance in degree, the larger degree first, then in node order."""
    others = [other for other in range(len(degrees)) if other != node]
    gap = [(abs(degrees[other] - degrees[node]), -degrees[other], other) for other in others]
    return [other for _, _, other in sorted(gap)[: int(2 * np.log2(len(degrees))) + 1]]


def test_each_node_is_compared_with_those_of_the_nearest_degrees():
    degrees = RNG.choice([0, 1, 1, 2, 2, 2, 5, 9, 30], 50)
    wanted = {tuple(sorted((node, other))) for node in range(50) for other in chosen_reference(degrees, node)}
    assert similar_pairs(degrees).tolist() == sorted(map(list, wanted))
    assert pairs_per_node(50) == 12


def test_a_small_graph_compares_all_pairs():
    assert similar_pairs(np.array([4, 1, 2])).tolist() == all_pairs(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert similar_pairs(np.array([0])).shape == (0, 2)
