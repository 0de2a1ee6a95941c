"""The paired test beside SciPy's, and what it says of splits that overlap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from pine.errors import InputError
from pine.evaluation.paired_test import holm, paired_p_value

OURS, THEIRS = np.random.default_rng(0).random((2, 8))


def test_without_overlap_it_is_the_paired_t_test():
    assert paired_p_value(OURS, THEIRS) == pytest.approx(ttest_rel(OURS, THEIRS).pvalue)
    assert paired_p_value(THEIRS, OURS) == paired_p_value(OURS, THEIRS)


def test_overlap_widens_the_error_as_nadeau_and_bengio_have_it():
    difference = OURS - THEIRS
    wider = difference.mean() + (difference - difference.mean()) * np.sqrt(1 + 8 * 0.25)
    assert paired_p_value(OURS, THEIRS, overlap=0.25) == pytest.approx(paired_p_value(wider, np.zeros(8)))


def test_equal_scores_and_a_single_split_are_chance_and_a_constant_lead_is_none():
    assert paired_p_value([0.5, 0.6], [0.5, 0.6]) == 1
    assert paired_p_value([0.9], [0.1]) == 1
    assert paired_p_value([], []) == 1
    assert paired_p_value([0.75, 0.75], [0.5, 0.5]) == 0


def test_scores_that_are_no_pairs_are_refused():
    with pytest.raises(InputError, match="as many scores of both, got 8 and 7"):
        paired_p_value(OURS, THEIRS[1:])


def test_holm_raises_p_values_by_how_many_are_left_and_keeps_their_order():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.7, 0.8]) == [1, 1]
    assert holm([]) == []
