"""A collapsed fit is told apart from one that works, and the warning names a way out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pine import PINE
from pine.datasets import planted_classes
from pine.labels import Labels
from pine.model.collapse import effective_rank, warn_if_collapsed

GOOD = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)
LINE = np.outer(np.arange(60.0), np.ones(8)).astype(np.float32)


def labels(values: list[int]) -> Labels:
    return Labels("classes", "node", np.arange(len(values)), np.array(values), np.array(["a", "b"]))


def test_the_effective_rank_is_exp_of_the_entropy_of_singular_values():
    assert effective_rank(np.eye(5)) == pytest.approx(5)
    assert effective_rank(LINE) == pytest.approx(1, abs=1e-4)
    assert effective_rank(np.zeros((5, 3))) == 0
    shares = np.array([3, 1]) / 4
    assert effective_rank(np.diag([3.0, 1.0])) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))


@pytest.mark.parametrize("vectors", [LINE, np.zeros_like(LINE), np.ones_like(LINE)])
def test_vectors_along_one_line_are_a_warning_with_a_way_out(vectors):
    with pytest.warns(UserWarning, match=r"vectors collapsed: their effective rank is [01]\.00 of 8; a larger lam"):
        warn_if_collapsed(vectors, None, None)


def test_one_class_for_all_is_a_warning_where_labels_have_several():
    one = np.tile([0.3, 0.7], (60, 1))
    with pytest.warns(UserWarning, match=r"predictions collapsed: all 60 nodes are predicted to be 'b'; a larger lam"):
        warn_if_collapsed(GOOD, one, labels([0, 1]))
    warn_if_collapsed(GOOD, one, labels([1, 1]))
    one[3] = [0.9, 0.1]
    warn_if_collapsed(GOOD, one, labels([0, 1]))


def test_two_classes_may_lie_near_a_line_but_not_on_it():
    near = LINE + GOOD
    assert effective_rank(near) < 2
    warn_if_collapsed(near, None, labels([0, 1]))
    with pytest.warns(UserWarning, match="vectors collapsed"):
        warn_if_collapsed(LINE, None, labels([0, 1]))
    with pytest.warns(UserWarning, match="vectors collapsed"):
        warn_if_collapsed(near, None, None)


def test_a_few_nodes_and_vectors_of_one_number_are_no_collapse():
    warn_if_collapsed(LINE[:19], np.tile([0.3, 0.7], (19, 1)), labels([0, 1]))
    warn_if_collapsed(LINE[:, :1], None, None)
    with pytest.warns(UserWarning, match="vectors collapsed"):
        warn_if_collapsed(LINE[:20], None, None)
    with pytest.warns(UserWarning, match="predictions collapsed"):
        warn_if_collapsed(GOOD[:20], np.tile([0.3, 0.7], (20, 1)), labels([0, 1]))


def test_the_printed_method_collapses_and_ours_does_not():
    graph, classes = planted_classes(300, classes=3)
    seen = np.where(np.arange(300) % 3, -1, classes)
    with pytest.warns(UserWarning, match="predictions collapsed"):
        PINE.paper(dim=8).fit(graph, seen)
    with warnings.catch_warnings(action="error"):
        PINE(dim=8).fit(graph, seen)
