"""What is dropped depends on the key and the place alone, and the gradient is dropped where the value was."""

from __future__ import annotations

import pytest
import torch
from support.tensors import generator, normal

from pine.nn.neighbor_dropout import neighbor_dropout
from pine.nn.threads import sleeping_threads


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_gradient_is_dropped_and_scaled_where_the_value_was(dtype):
    x = normal(2, 300, 7, dtype=dtype).requires_grad_()
    out = neighbor_dropout(x, 0.3, generator())
    (gradient,) = torch.autograd.grad(out, x, torch.ones_like(out))
    assert set(gradient.unique().tolist()) == {0.0, torch.tensor(1 / 0.7, dtype=dtype).item()}
    torch.testing.assert_close(out, x * gradient)


def test_every_place_is_dropped_as_often_and_none_with_another():
    kept = (neighbor_dropout(torch.ones(40_000, 16), 0.4, generator()) > 0).double() - 0.6
    assert kept.mean(0).abs().max() < 5 * (0.24 / 40_000) ** 0.5
    together = kept.T @ kept / (0.24 * 40_000)
    assert (together - torch.eye(16, dtype=torch.float64)).abs().max() < 5 / 40_000**0.5 + 0.01
    assert ((kept[1:] * kept[:-1]).mean(0) / 0.24).abs().max() < 5 / 40_000**0.5


def test_the_mask_is_the_same_on_any_number_of_threads_and_another_for_each_draw():
    x, draws = torch.ones(20_000, 3), generator()
    first, second = (neighbor_dropout(x, 0.4, draws) for _ in range(2))
    assert not torch.equal(first, second)
    for threads in (1, 2, 3):
        with sleeping_threads(threads):
            assert torch.equal(neighbor_dropout(x, 0.4, generator()), first)
