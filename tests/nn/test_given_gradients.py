"""Terms whose gradients were made by hand: autograd hands these on, for their sum alone."""

from __future__ import annotations

import pytest
import torch

from pine.nn.given_gradients import with_gradients


def made() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """x^2 and 3 x in the sum over x, with the gradient 2 x + 3."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    with torch.no_grad():
        terms, gradient = {"squares": x.square().sum(), "thrice": 3 * x.sum()}, 2 * x + 3
    return x, with_gradients(terms, [x], [gradient])


@pytest.mark.parametrize("factor", [1.0, -0.5])
def test_the_sum_has_the_gradients_that_were_given_times_what_it_is_multiplied_by(factor):
    x, terms = made()
    assert {name: each.item() for name, each in terms.items()} == {"squares": 5.0, "thrice": -3.0}
    (factor * (terms["squares"] + terms["thrice"])).backward()
    torch.testing.assert_close(x.grad, factor * torch.tensor([5.0, -1.0]))


def test_a_single_term_has_no_gradient():
    _, terms = made()
    with pytest.raises(RuntimeError, match="gradient of their sum alone"):
        terms["squares"].backward()
