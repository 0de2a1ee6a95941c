"""The start as a method gives the very vectors from which PINE begins."""

from __future__ import annotations

import numpy as np
import pytest
from support.models import pine_with

import pine
from pine import Graph, InputError
from pine.model import StructuralStart
from pine.model.init.start import structural_start


def test_vectors_are_the_structural_start_of_the_same_dim_and_seed():
    graph = pine.datasets.load("cora").graph
    found = StructuralStart(dim=16, seed=3).fit(graph).embedding_
    np.testing.assert_array_equal(found, structural_start(graph.adjacency(), 16, np.random.default_rng(3)))


def test_pine_begins_there():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 50, (150, 2)), nodes=range(50))
    still = pine_with(dim=8, seed=5, epochs=1, embedding_lr=1e-12, lam=1.0, scaling="mean")
    start = StructuralStart(dim=8, seed=5).fit(graph).embedding_
    np.testing.assert_allclose(still.fit(graph).embedding_, start, atol=1e-6)


def test_direction_does_not_matter_to_it():
    edges = np.random.default_rng(0).integers(0, 30, (90, 2))
    both = Graph.from_edges(edges, nodes=range(30), directed=True)
    assert np.isfinite(StructuralStart(dim=4).fit(both).embedding_).all()


def test_a_dim_that_is_no_number_of_columns_is_refused():
    with pytest.raises(InputError, match="dim must be a whole number of at least 1, got 0"):
        StructuralStart(dim=0).fit(Graph.from_edges([(0, 1)]))
