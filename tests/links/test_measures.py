"""AUC and average precision are scikit-learn's, hits@k and MRR those of counting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from pine import InputError
from pine.links.measures import auc, average_precision, hits_at, mrr, ranks_of


@pytest.mark.parametrize("levels", [3, 1000])
def test_auc_and_average_precision_are_those_of_scikit_learn(levels):
    rng = np.random.default_rng(0)
    positives, negatives = rng.integers(1, levels + 1, 70), rng.integers(0, levels, 90)
    truth, scores = np.repeat([1, 0], [70, 90]), np.concatenate([positives, negatives])
    assert auc(positives, negatives) == pytest.approx(roc_auc_score(truth, scores))
    assert average_precision(positives, negatives) == pytest.approx(average_precision_score(truth, scores))


def test_ranks_hits_and_mrr_are_those_of_counting():
    rng = np.random.default_rng(1)
    positives, rivals = rng.integers(0, 9, 20).astype(float), rng.integers(0, 9, (20, 15)).astype(float)
    counted = [
        1 + sum(r > p for r in row) + sum(r == p for r in row) / 2 for p, row in zip(positives, rivals, strict=True)
    ]
    ranks = ranks_of(positives, rivals)
    assert ranks.tolist() == counted
    assert hits_at(3, ranks) == sum(rank <= 3 for rank in counted) / 20
    assert mrr(ranks) == pytest.approx(sum(1 / rank for rank in counted) / 20)


def test_equal_scores_are_a_coin():
    assert auc(np.zeros(5), np.zeros(7)) == 0.5


def test_scores_of_one_kind_alone_are_refused():
    with pytest.raises(InputError, match="there are none of one of them"):
        auc(np.ones(3), np.empty(0))
