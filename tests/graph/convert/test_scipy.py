"""To SciPy and back: ids and weights stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from support.convert import OPTIONS, PLAIN, TYPED, same_graph

from pine import Graph
from pine.errors import InputError


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "parallel"])
def test_scipy_gives_back_what_it_got(name):
    graph = PLAIN[name]
    back = Graph.from_scipy(graph.to_scipy(), ids=graph.ids(), directed=graph.directed, **OPTIONS.get(name, {}))
    assert same_graph(back, graph.with_features({}))


def test_scipy_gives_one_matrix_for_each_relation_of_a_typed_graph():
    graph = TYPED["library"]
    np.testing.assert_array_equal(graph.to_scipy(("author", "writes", "paper")).toarray(), [[2, 0], [0, 3], [0, 0]])
    assert graph.to_scipy().shape == (5, 5)


def test_a_csr_matrix_is_given_on_request():
    graph = TYPED["library"]
    assert isinstance(graph.to_scipy(), sp.csr_array)
    for relation in (None, ("author", "writes", "paper")):
        matrix = graph.to_scipy(relation, matrix=True)
        assert isinstance(matrix, sp.csr_matrix)
        np.testing.assert_array_equal(matrix.toarray(), graph.to_scipy(relation).toarray())


def test_what_is_no_square_matrix_of_weights_is_refused():
    with pytest.raises(InputError, match="from_scipy takes a sparse matrix, got ndarray"):
        Graph.from_scipy(np.eye(2))
    with pytest.raises(InputError, match=r"the matrix must be square.*got shape \(2, 3\)"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(InputError, match="the weight is negative"):
        Graph.from_scipy(sp.csr_array([[0, -1], [0, 0]]))
