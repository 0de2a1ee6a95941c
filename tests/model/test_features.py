"""Vectors from features: the formula, how features are standardized, and what training leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from pine import Graph
from pine.model.features import HOPS, FeatureVectors, Standardization, feature_columns
from pine.propagation import FeaturePropagator

CPU = torch.device("cpu")
WORDS = np.random.default_rng(0).poisson(0.4, (5, 6)).astype(np.float32)
NUMBERS = np.random.default_rng(1).normal(3, 2, (5, 6)).astype(np.float32)
ALL = np.ones(5, bool)
EDGES = [("p0", "p1"), ("p1", "p2"), ("p3", "p0")]
WRITES = [("a0", "p0"), ("a1", "p3")]


def typed(features: Any, **more: Any) -> Graph:
    relations = {("paper", "cites", "paper"): EDGES, ("author", "writes", "paper"): WRITES}
    nodes = {"author": ["a0", "a1"], "paper": [f"p{i}" for i in range(5)]}
    return Graph.from_relations(relations, nodes=nodes, features={"paper": features}, **more)


def vectors(graph: Graph, dim: int = 5, **options: Any) -> FeatureVectors:
    columns = feature_columns(graph, sorted(graph.features), CPU, None)
    propagator = FeaturePropagator(graph, HOPS, CPU, None)
    generator = torch.Generator().manual_seed(0)
    return FeatureVectors(columns, propagator, graph.num_nodes, dim, generator, **options)


def mean_of_hops(graph: Graph) -> np.ndarray:
    """The definition, as a matrix."""
    looped = graph.to_scipy().toarray() + np.eye(graph.num_nodes)
    root = 1 / np.sqrt(looped.sum(axis=1))
    S = root[:, None] * looped * root
    return np.mean([np.linalg.matrix_power(S, k) for k in range(HOPS + 1)], axis=0)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_vectors_are_the_formula_and_a_type_without_features_hears_those_of_others(form):
    graph = typed(form(WORDS))
    made = vectors(graph)
    a = np.zeros((7, 6))
    scaled = WORDS / np.maximum(WORDS.max(axis=0), 1e-9)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    a[2:] = scaled / np.where(length > 0, length, 1)
    A = made.A[0].detach().numpy()
    carried, own = (each.detach().numpy() for each in made())
    np.testing.assert_allclose(carried, mean_of_hops(graph) @ a @ A[:, :3], atol=1e-5)
    np.testing.assert_allclose(own, a @ A[:, 3:], atol=1e-5)
    assert not own[:2].any()
    assert np.abs(carried[:2]).min() > 1e-4


def test_sparse_and_dense_features_have_the_same_gradients():
    gradients = []
    for form in (np.array, sp.csr_array):
        made = vectors(typed(form(WORDS)))
        carried, own = made()
        ((carried * torch.arange(21).reshape(7, 3)).sum() + own.square().sum()).backward()
        gradients.append(made.A[0].grad)
    torch.testing.assert_close(*gradients)


def test_rows_of_words_have_unit_length_and_neither_their_number_nor_a_column_s_unit_matters():
    for form in (np.array, sp.csr_array):
        given = form(WORDS)
        made = Standardization.of(given, ALL).apply(given, ALL)
        dense = made.toarray() if sp.issparse(made) else made
        length = np.linalg.norm(dense, axis=1)
        np.testing.assert_allclose(length, WORDS.any(axis=1), atol=1e-6)
        other = form(WORDS * np.array([1, 10, 100, 1, 1, 0.1], np.float32))
        again = Standardization.of(other, ALL).apply(other, ALL)
        np.testing.assert_allclose(again.toarray() if sp.issparse(again) else again, dense, atol=1e-6)


def test_numbers_have_columns_of_zero_mean_and_one_variance_and_constant_ones_say_nothing():
    given = NUMBERS.copy()
    given[:, 2] = 0.1
    made = Standardization.of(given, ALL).apply(given, ALL)
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=1e-6)
    expected = np.where(np.arange(6) == 2, 0, 1 / np.sqrt(6))
    np.testing.assert_allclose(made.std(axis=0), expected, atol=1e-6)
    shifted = given * 1000 + 50
    np.testing.assert_allclose(Standardization.of(shifted, ALL).apply(shifted, ALL), made, atol=1e-4)


@pytest.mark.parametrize("features", [WORDS, NUMBERS])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_rows_of_unknown_features_are_zero_and_do_not_count_for_the_others(features, form):
    known = np.array([True, True, False, True, True])
    given = features.copy()
    given[2] = 0
    wild = features.copy()
    wild[2] = 1e6 if form is np.array else 0
    made = Standardization.of(form(wild), known).apply(form(wild), known)
    assert not (made.toarray() if sp.issparse(made) else made)[2].any()
    again = Standardization.of(form(given), known).apply(form(given), known)
    difference = made - again
    assert not (difference.toarray() if sp.issparse(difference) else difference).any()


def test_in_training_columns_and_nodes_are_left_out_and_the_mean_stays():
    made = vectors(typed(WORDS), dropout=0.4)
    generator = torch.Generator().manual_seed(0)
    carried, own = zip(*(made.mapped(list(made.A), 3, generator, drops=2) for _ in range(6000)), strict=True)
    expected = made()
    np.testing.assert_allclose(torch.stack(carried).mean(0).detach(), expected[0].tile(1, 2).detach(), atol=0.06)
    np.testing.assert_allclose(torch.stack(own).mean(0).detach(), expected[1].detach(), atol=0.06)
    first, second = carried[0][:, :3], carried[0][:, 3:]
    assert (first - second).abs().max() > 0.01  # other nodes in each drop


def test_a_hundred_thousand_sparse_columns_are_never_written_out():
    wide = sp.random_array((5, 100_000), density=1e-4, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    (columns,) = feature_columns(typed(wide), ["paper"], CPU, None)
    assert not isinstance(columns.values, torch.Tensor)
    assert columns.values.csr.nnz == wide.nnz


@pytest.mark.parametrize("features", [sp.csr_array(WORDS), NUMBERS])
@pytest.mark.parametrize("drops", [0, 1, 2])
def test_the_way_back_is_the_gradient_of_the_way_there(features, drops):
    graph = typed(features)
    made = vectors(graph, dropout=0.4)
    maps = torch.randn(6, 5, generator=torch.Generator().manual_seed(1)).requires_grad_()

    def both(maps: torch.Tensor) -> torch.Tensor:
        generator = torch.Generator().manual_seed(2) if drops else None
        return torch.cat(made.mapped([maps], 3, generator, max(1, drops)), dim=1)

    wanted = torch.randn(both(maps).shape, generator=torch.Generator().manual_seed(3))
    (slope,) = torch.autograd.grad((both(maps) * wanted).sum(), maps)
    # It is linear: column by column of the identity gives the matrix that the gradient is multiplied by.
    for row in range(6):
        for column in range(5):
            one = torch.zeros(6, 5)
            one[row, column] = 1.0
            expected = (both(one) * wanted).sum()
            torch.testing.assert_close(slope[row, column], expected.detach(), atol=1e-5, rtol=1e-4)


def test_dense_features_that_are_mostly_zero_are_kept_sparse_and_others_dense():
    few = np.eye(40, dtype=np.float32)
    everyone = np.ones(40, bool)
    for features, is_sparse in ((few, True), (1 - few, False)):
        made = Standardization(np.zeros(40, np.float32), np.ones(40, np.float32), False).apply(features, everyone)
        assert sp.issparse(made) == is_sparse
        np.testing.assert_array_equal(made.toarray() if is_sparse else made, features)
