"""Nodes are found by their ids, and a type must be given where an id alone is ambiguous."""

from __future__ import annotations

import pytest

from pine import Graph
from pine.errors import InputError


def test_the_same_id_may_occur_in_two_types_and_then_the_type_must_be_given():
    graph = Graph.from_relations({("a", "r", "b"): [(1, 1), (1, 2)]})
    assert graph.neighbors(1, type="b") == {"a": [1], "b": []}
    with pytest.raises(InputError, match="1: found in the types 'a', 'b'; say which"):
        graph.neighbors(1)


def test_an_id_that_is_alike_is_offered_for_one_that_does_not_exist():
    graph = Graph.from_edges([("Valjean", "Javert"), ("Javert", "Cosette")])
    with pytest.raises(InputError, match=r"no node 'Jean Valjean' of type 'node' here; did you mean 'Valjean'\?$"):
        graph.neighbors("Jean Valjean")
    with pytest.raises(InputError, match=r"there is no node 'x' of type 'node' here$"):
        graph.neighbors("x")
    typed = Graph.from_relations({("user", "buys", "product"): [("ann", 1), ("bob", 2)]})
    with pytest.raises(InputError, match=r"there are no nodes 'anna' of one type here; did you mean 'ann'\?$"):
        typed.neighbors("anna")
