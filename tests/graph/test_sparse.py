"""A sparse matrix with entries outside of its shape is refused, and nothing reads beyond its arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pine import Graph, InputError
from pine.io import read_feature_file

GRAPH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])


def damaged(form, index):
    matrix = sp.eye_array(5, format=form, dtype=np.float32)
    (matrix.coords[0] if form == "coo" else matrix.indices)[2] = index
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [5, 10**8, -1])
def test_entries_outside_of_the_shape_are_refused(form, index, tmp_path):
    with pytest.raises(InputError, match="is no sound sparse matrix"):
        GRAPH.with_features(damaged(form, index))
    with pytest.raises(InputError, match="the matrix is no sound sparse matrix"):
        Graph.from_scipy(damaged(form, index))
    sp.save_npz(tmp_path / "f.npz", damaged(form, index))
    with pytest.raises(InputError, match=r"f\.npz"):
        read_feature_file(tmp_path / "f.npz", GRAPH)


def test_columns_that_begin_beyond_the_entries_are_refused():
    matrix = sp.eye_array(5, format="csr", dtype=np.float32)
    matrix.indptr[-1] = 9
    with pytest.raises(InputError, match="is no sound sparse matrix"):
        GRAPH.with_features(matrix)


def test_a_matrix_of_a_user_stays_as_it_is():
    matrix = sp.eye_array(5, format="csr", dtype=np.float32)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    Graph.from_scipy(matrix)
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int64
