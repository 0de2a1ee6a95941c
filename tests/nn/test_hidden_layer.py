"""hidden_layer beside its definition: values, every gradient, any block and any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.tensors import normal

from pine.nn.hidden_layer import hidden_layer, hidden_layer_reference
from pine.nn.threads import own_threads, sleeping_threads

Layer = tuple[Any, Any, Any, Any, Any, Any]  # x, a, u, v, o, W

CASES = {  # leading dimensions of x and of the parameters
    "one": ((), ()),
    "copies": ((3,), (3,)),
    "copies of one x": ((), (3,)),
    "copies that share some x": ((2, 1), (2, 3)),
}


def given(x_lead: tuple[int, ...], lead: tuple[int, ...], projected: bool, N: int = 37) -> Layer:
    M, T, Q, L = 5, 3, 2, 4
    shapes = [(*x_lead, N, M), (*lead, T, M), *[(*lead, Q, T)] * 3, (*lead, L, Q * T)]
    x, a, u, v, o, W = (normal(*shape, seed=k).requires_grad_() for k, shape in enumerate(shapes))
    return (x, a, u, v, o, W) if projected else (normal(*lead, N, T).requires_grad_(), None, u, v, o, W)


@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("floats", [6, 60, None])
def test_values_and_gradients_are_those_of_the_definition(case, projected, floats):
    tensors = given(*CASES[case], projected)
    leaves = [tensor for tensor in tensors if tensor is not None]
    wanted = hidden_layer_reference(*tensors)
    y = hidden_layer(*tensors, "tanh", floats)
    upstream = normal(*wanted.shape, seed=9)
    torch.testing.assert_close(y, wanted)
    torch.testing.assert_close(torch.autograd.grad(y, leaves, upstream), torch.autograd.grad(wanted, leaves, upstream))


def test_single_precision_is_exact_to_rounding_and_keeps_what_is_no_number():
    s = torch.cat([torch.linspace(-12, 12, 100_001), torch.tensor([np.inf, -np.inf, np.nan])])[:, None]
    one, zero = torch.ones(1, 1), torch.zeros(1, 1)
    tanh = hidden_layer(s, None, one, zero, zero, one)
    assert tanh.dtype == torch.float32
    torch.testing.assert_close(tanh, s.double().tanh().float(), rtol=0, atol=3e-7, equal_nan=True)
    assert (tanh.abs() <= 1).sum() == 100_003


def test_any_number_of_threads_gives_the_same_bits_and_leaves_torchs_alone():
    tensors = given((), (), True, N=1001)
    leaves, before, made = [t for t in tensors if t is not None], torch.get_num_threads(), []
    for threads in (1, 2, 3):
        with sleeping_threads(threads):
            assert (own_threads(), torch.get_num_threads()) == (threads, 1)
            y = hidden_layer(*tensors, "tanh", 100)
            made.append([y, *torch.autograd.grad(y.square().sum(), leaves)])
        assert torch.get_num_threads() == before
    assert all(torch.equal(a, b) for other in made[1:] for a, b in zip(made[0], other, strict=True))


def test_outside_of_a_fit_the_layer_takes_as_many_threads_as_torch_has():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert own_threads() == 3
        hidden_layer(*given((), (), True))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
