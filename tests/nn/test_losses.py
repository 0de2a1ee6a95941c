"""The terms of the objective against torch's own losses and against cases known by hand."""

from __future__ import annotations

import pytest
import torch
from support.tensors import normal
from torch.nn import functional

from pine.errors import InputError
from pine.nn.losses import (
    LOSSES,
    agreement,
    class_loss,
    l2,
    label_set_loss,
    number_loss,
)


def test_agreement_is_the_mean_squared_distance_over_lambda():
    x, f = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.tensor([[3.0, 4.0], [1.0, 1.0]])
    assert float(agreement(x, f)) == 12.5
    assert float(agreement(x, f, lam=0.005)) == pytest.approx(2500)


def test_the_loss_of_classes_is_cross_entropy():
    scores, labels = normal(7, 4), torch.tensor([0, 3, 1, 1, 2, 0, 3])
    torch.testing.assert_close(class_loss(scores, labels), functional.cross_entropy(scores, labels))


def test_the_loss_of_label_sets_is_logistic_and_summed_over_labels():
    scores, labels = normal(7, 4), (normal(7, 4, seed=1) > 0).long()
    wanted = 4 * functional.binary_cross_entropy_with_logits(scores, labels.double())
    torch.testing.assert_close(label_set_loss(scores, labels), wanted)


def test_the_loss_of_numbers_is_the_squared_error():
    scores, labels = normal(7, 1), normal(7, seed=1)
    torch.testing.assert_close(number_loss(scores, labels), functional.mse_loss(scores[:, 0], labels))
    scores, labels = normal(7, 3), normal(7, 3, seed=1)
    torch.testing.assert_close(number_loss(scores, labels), 3 * functional.mse_loss(scores, labels))


def test_l2_is_the_sum_of_squares_of_the_weights():
    assert float(l2(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))) == 30
    assert float(l2(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [0.5]]))) == 17.5


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_models_side_by_side_get_a_loss_each(task):
    labels = {"classes": torch.tensor([0, 2, 1, 0]), "label-sets": torch.eye(4, 3), "numbers": normal(4, 3)}[task]
    scores = normal(2, 4, 3)
    each = torch.stack([LOSSES[task](one, labels) for one in scores])
    torch.testing.assert_close(LOSSES[task](scores, labels), each)
    torch.testing.assert_close(agreement(scores, 2 * scores), torch.stack([agreement(s, 2 * s) for s in scores]))
    torch.testing.assert_close(l2(scores), torch.stack([l2(s) for s in scores]))


def test_gradients_of_all_terms_are_those_of_the_formulas():
    x = normal(5, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: agreement(x, x**2, 0.3), x)
    for weights in (None, normal(5).abs()):
        assert torch.autograd.gradcheck(lambda x: class_loss(x, torch.tensor([0, 1, 2, 1, 0]), weights), x)  # noqa: B023
        assert torch.autograd.gradcheck(lambda x: label_set_loss(x, torch.eye(5, 3), weights), x)  # noqa: B023
        assert torch.autograd.gradcheck(lambda x: number_loss(x, torch.ones(5, 3), weights), x)  # noqa: B023
    assert torch.autograd.gradcheck(l2, x)


def test_labels_that_do_not_fit_the_scores_are_explained():
    with pytest.raises(InputError, match=r"labels must match the scores \(4, 3\): shape \(4,\), got \(5,\)"):
        class_loss(torch.ones(4, 3), torch.zeros(5, dtype=torch.int64))
    with pytest.raises(InputError, match=r"shape \(4, 3\), got \(4,\)"):
        label_set_loss(torch.ones(4, 3), torch.zeros(4))
    with pytest.raises(InputError, match=r"shape \(4, 3\), got \(4, 1\)"):
        number_loss(torch.ones(4, 3), torch.zeros(4))
    with pytest.raises(InputError, match="same shape"):
        agreement(torch.ones(4, 3), torch.ones(4, 2))
