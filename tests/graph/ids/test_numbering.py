"""Integers are numbered in ascending order, everything else in order of first appearance."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pine import Graph


def test_integer_ids_are_numbered_in_ascending_order_so_that_0_to_n_are_their_own_positions():
    graph = Graph.from_edges(np.array([[3, 1], [0, 2], [2, 3]]))
    assert graph.ids().tolist() == [0, 1, 2, 3]
    assert Graph.from_edges([(70, 5), (5, -2)]).ids().tolist() == [-2, 5, 70]


def test_scattered_integer_ids_are_numbered_in_ascending_order_too():
    ids = np.array([2**62, -(2**61), 7, 10**15])
    graph = Graph.from_edges(np.array([[ids[0], ids[1]], [ids[2], ids[3]], [ids[1], ids[3]]]))
    assert graph.ids().tolist() == sorted(ids.tolist())
    assert graph.neighbors(10**15) == {"node": [-(2**61), 7]}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=200))
def test_text_ids_are_numbered_as_a_dictionary_would(pairs):
    graph = Graph.from_edges(pairs, self_loops="keep")
    assert graph.ids().tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))
