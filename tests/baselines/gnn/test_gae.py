"""The graph autoencoder finds held-out links, and on Cora as well as its authors say."""

from __future__ import annotations

import os

import numpy as np
import pytest
from support.links import planted

from pine import datasets
from pine.baselines import GAE
from pine.graph import Graph
from pine.links import hold_out
from pine.links.measures import auc

PUBLISHED = {"cora": 0.843, "citeseer": 0.787, "pubmed": 0.826}  # AUC without features: Kipf and Welling, 2016, Table 1


def held_out_auc(graph: Graph, seed: int, epochs: int = 200) -> float:
    split = hold_out(graph, seed)
    z = GAE(seed=seed, epochs=epochs).fit(split.graph).embedding_
    edges, others = (np.einsum("ij,ij->i", z[p[:, 0]], z[p[:, 1]]) for p in (split.test, split.test_negatives))
    return auc(edges, others)


def test_dot_products_tell_held_out_links_from_other_pairs():
    assert held_out_auc(planted(), 0, epochs=100) > 0.75


def test_threads_do_not_change_a_bit():
    one, two = (GAE(epochs=5, threads=threads).fit(planted()).embedding_ for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.slow
@pytest.mark.skipif("PINE_DATA" not in os.environ, reason="needs PINE_DATA")
@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_the_auc_is_near_that_of_its_authors(name):
    graph = datasets.load(name).graph
    found = np.mean([held_out_auc(graph, seed) for seed in range(3)])
    assert abs(found - PUBLISHED[name]) < 0.03
