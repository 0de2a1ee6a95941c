"""Average ranks, the critical difference, and which methods are joined."""

from __future__ import annotations

import math

import pytest
from support.reproduce import row

from pine.reproduce.ranks import average_ranks, critical_difference, joined
from pine.reproduce.tables import grids

DATASETS = ("cora", "citeseer", "pubmed")
SCORES = {"A": 0.9, "B": 0.8, "C": 0.7, "D": 0.6}


def scored(scores=SCORES, datasets=DATASETS, ratios=(0.1, 0.5)):
    cells = [(dataset, ratio, method) for dataset in datasets for ratio in ratios for method in scores]
    return [row(m, r, scores[m], dataset=d, repeat=k) for d, r, m in cells for k in (0, 1)]


def ranks_of(rows):
    return average_ranks(grids(rows, ["accuracy"]))


@pytest.mark.parametrize(("methods", "quantile"), [(4, 2.569), (5, 2.728), (10, 3.164)])  # Demsar 2006, Table 5
def test_the_critical_difference_is_the_one_computed_by_hand(methods, quantile):
    by_hand = quantile * math.sqrt(methods * (methods + 1) / (6 * 14))
    assert critical_difference(methods, 14) == pytest.approx(by_hand, abs=2e-3)


def test_groups_that_differ_by_less_than_the_difference_are_joined_once():
    assert joined([1.0, 1.5, 2.9, 3.2], 1.5) == [(0, 1), (1, 2), (2, 3)]
    assert joined([1.0, 1.5, 2.0, 9.0], 1.5) == [(0, 2)]  # not (1, 2) as well
    assert joined([1.0, 2.0, 3.0], 5.0) == [(0, 2)]
    assert joined([1.0, 2.0, 3.0], 1.0) == []  # as far apart as the difference is different


def test_ranks_are_averaged_within_a_data_set_before_they_are_over_data_sets():
    rows = scored(ratios=(0.1,)) + scored({"A": 0.1, "B": 0.8, "C": 0.7, "D": 0.6}, ("cora",), ratios=(0.3, 0.5))
    found = ranks_of(rows)
    assert found is not None
    assert found.num_datasets == 3
    assert found.ranks["A"] == pytest.approx(((1 + 4 + 4) / 3 + 1 + 1) / 3)  # (1 + 4 + 4 + 1 + 1) / 5 over all cells
    assert list(found.ranks) == ["A", "B", "C", "D"]


def test_methods_of_equal_scores_share_their_ranks():
    found = ranks_of(scored(SCORES | {"B": 0.9}))
    assert found is not None
    assert found.ranks == {"A": 1.5, "B": 1.5, "C": 3.0, "D": 4.0}


def test_forms_of_the_first_method_are_left_out_and_so_is_what_did_not_finish():
    rows = scored(SCORES | {"A, untyped": 0.95, "E": 0.5})
    rows[-1] |= {"stopped": "time: too long"}
    found = ranks_of(rows)
    assert found is not None
    assert list(found.ranks) == ["A", "B", "C", "D"]
    assert found.unfinished == ("E",)


def test_few_methods_or_few_data_sets_have_no_ranks():
    assert ranks_of(scored(datasets=DATASETS[:2])) is None
    assert ranks_of(scored({"A": 0.9, "B": 0.8, "C": 0.7})) is None
    assert ranks_of(scored({"A": 0.9, "A, untyped": 0.8, "C": 0.7, "D": 0.6})) is None
