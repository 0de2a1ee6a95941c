"""A planted graph has the classes, edges and degrees that it is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from pine import InputError
from pine.datasets import planted_classes


def test_edges_stay_inside_classes_as_often_as_asked_and_degrees_are_skewed():
    graph, classes = planted_classes(20_000, classes=10, inside=0.6)
    links = graph.links()
    assert graph.num_nodes == len(classes) == 20_000
    assert set(classes) == set(range(10))
    assert 0.97 * 100_000 < graph.num_edges <= 100_000  # repeated ones are one
    inside = (classes[links.rows()] == classes[links.indices]).mean()
    assert abs(inside - 0.6) < 0.01
    # The square of a lognormal's mean is exp(sigma^2) times smaller than the mean of its square; Poisson adds 1 / 10.
    degree = links.degrees()
    assert abs(np.mean(degree**2.0) / degree.mean() ** 2 - (np.exp(0.75**2) + 0.1)) < 0.1


def test_a_seed_makes_the_same_graph_again_and_another_one_another():
    (one, first), (same, second), (other, third) = (planted_classes(500, classes=4, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.links().indices, same.links().indices)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)
    assert other.num_edges > 0


@pytest.mark.parametrize("given", [{"num_nodes": 0}, {"classes": 1}, {"classes": 4, "inside": 0.2}, {"inside": 1.1}])
def test_what_is_no_such_graph_is_refused(given):
    with pytest.raises(InputError, match="must be"):
        planted_classes(**{"num_nodes": 100} | given)
