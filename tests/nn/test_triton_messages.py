"""Messages in Triton: values and every gradient equal the definition's, with the same bits every time.

Runs on a CUDA device, or in Triton's interpreter on a CPU (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec

import pytest
import torch
from support.tensors import normal, random_csr

from pine.nn import SetFunction, set_function_reference
from pine.nn.messages import g, messages
from pine.nn.neighbor_dropout import BlockDropout

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
on_cuda = pytest.mark.skipif(DEVICE.type == "cpu", reason="needs a CUDA device")
if find_spec("triton") is not None and (DEVICE.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"):
    from pine.nn import triton_messages as kernels
else:
    pytest.skip("needs a CUDA device with Triton", allow_module_level=True)

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered in exp"),  # Triton's interpreter
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),  # torch, if its first product is in a backward pass
]
# The interpreter knows no sums of bfloat16.
PRECISION = kernels.PRECISION if DEVICE.type == "cuda" else "tf32x3"


def drawn(sizes, lead=(), x_lead=None, own_scales=False):
    """x, a, u, v, W in double, of sizes N, M, T, Q, L."""
    N, M, T, Q, L = sizes
    shapes = ((N, M), (T, M), (T if own_scales else 1, Q), (1, Q), (L, T * Q))
    leads = (lead if x_lead is None else x_lead, *[lead] * 4)
    return [
        normal(*first, *shape, seed=i).to(DEVICE) for i, (first, shape) in enumerate(zip(leads, shapes, strict=True))
    ]


def value_and_gradients(function, given):
    given = [each.clone().requires_grad_() for each in given]
    y = function(*given)
    return y.detach(), *torch.autograd.grad(y, given, normal(*y.shape, seed=9).to(y))


def definition(x, a, u, v, W, sigma="tanh"):
    return g(x, a, u, v, sigma).flatten(-2) @ W.mT


def fast(x, a, u, v, W, offset=None, sigma="tanh", drop=None):
    return kernels.triton_messages(x, a, u, v, W, sigma, PRECISION, offset=offset, drop=drop)


def same_as_the_definition(given, sigma):
    wanted = value_and_gradients(partial(definition, sigma=sigma), given)
    got = value_and_gradients(partial(fast, sigma=sigma), [each.float() for each in given])
    for ours, exact in zip(got, wanted, strict=True):
        assert ours.shape == exact.shape
        assert (ours - exact).norm() < 1e-4 * exact.norm()


SIZES = [(71, 7, 5, 3, 6), (130, 64, 32, 8, 128), (200, 20, 17, 16, 16), (1, 1, 1, 1, 1), (300, 100, 40, 5, 200)]


@pytest.mark.parametrize("sigma", ["tanh", "sigmoid"])
@pytest.mark.parametrize("own_scales", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_value_and_every_gradient_equal_the_definition(sizes, own_scales, sigma):
    same_as_the_definition(drawn(sizes, own_scales=own_scales), sigma)


@pytest.mark.parametrize("x_lead", [(3,), ()])
def test_several_models_side_by_side_are_each_their_own(x_lead):
    same_as_the_definition(drawn((150, 9, 5, 3, 6), (3,), x_lead), "tanh")


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize("first", [0, 2**33 + 5])
def test_what_is_dropped_is_what_a_cpu_drops(first, lead):
    drop = BlockDropout(0.4, 2**62 - 12345, first)
    given = drawn((130, 20, 5, 3, 6), lead, ())
    wanted = value_and_gradients(lambda x, *rest: definition(drop.of(x.cpu()).to(x.device), *rest), given)
    found = [
        value_and_gradients(partial(fast, drop=drop), each)
        for each in ([each.float() for each in given], [each.float() for each in given])
    ]
    for ours, again, exact in zip(*found, wanted, strict=True):
        assert torch.equal(ours, again)
        assert (ours - exact).norm() < 1e-4 * exact.norm()


@pytest.mark.parametrize(("lead", "sigma"), [((), "tanh"), ((3,), "sigmoid")])
def test_an_offset_is_taken_off_g(lead, sigma):
    given = drawn((130, 20, 5, 3, 6), lead)
    offset = normal(*lead, 15, seed=5).to(DEVICE)

    def with_offset(x, a, u, v, W, offset):
        return (g(x, a, u, v, sigma).flatten(-2) - offset[..., None, :]) @ W.mT

    wanted = value_and_gradients(with_offset, [*given, offset])
    got = value_and_gradients(partial(fast, sigma=sigma), [each.float() for each in (*given, offset)])
    for ours, exact in zip(got, wanted, strict=True):
        assert ours.shape == exact.shape
        assert (ours - exact).norm() < 1e-4 * exact.norm()


def test_values_far_out_saturate_and_are_no_overflow():
    x, a, u, v, W = drawn((40, 3, 4, 2, 5))
    given = [each.float() for each in (1e4 * x, a, u, v, W)]
    for got in value_and_gradients(fast, given):
        assert got.isfinite().all()


def test_inputs_of_any_memory_layout_are_read_right():
    x, a, u, v, W = (each.float() for each in drawn((60, 8, 4, 3, 5)))
    wanted = fast(x, a, u, v, W)
    torch.testing.assert_close(fast(x.T.contiguous().T, a.T.contiguous().T, u, v, W.T.contiguous().T), wanted)
    torch.testing.assert_close(fast(x.repeat_interleave(2, 0)[::2], a, u, v, W), wanted)


def test_the_same_input_gives_the_same_bits():
    given = [each.float() for each in drawn((3000 if DEVICE.type == "cuda" else 300, 16, 8, 4, 16))]
    first, second = (value_and_gradients(fast, given) for _ in range(2))
    assert all(map(torch.equal, first, second))


def test_no_nodes_give_no_messages_and_no_gradient():
    given = [each.float() for each in drawn((0, 3, 4, 2, 5))]
    y, dx, *others = value_and_gradients(fast, given)
    assert y.shape == (0, 5)
    assert dx.shape == (0, 3)
    assert not any(each.any() for each in others)


@on_cuda
def test_what_does_not_fit_the_kernels_goes_the_way_of_torch():
    for sizes, lead in (((20, 300, 4, 2, 5), ()), ((20, 3, 100, 2, 5), ()), ((20, 3, 4, 2, 5), (2, 3))):
        x, a, u, v, W = (each.float() for each in drawn(sizes, lead))
        y = messages(x, a, u, v, W, "tanh")
        torch.testing.assert_close(y, definition(x, a, u, v, W), rtol=1e-4, atol=1e-4)


@on_cuda
@pytest.mark.parametrize("batch", [None, 3])
def test_the_set_function_in_single_precision_is_its_definition_in_double(batch):
    csr = random_csr(700, 900, 5000, weighted=True)
    options = {"L": 16, "T": 8, "Q": 4, "conditioned": True, "centered": True, "scaling": "sqrt", "batch": batch}
    f = SetFunction([12], 6, **options, generator=torch.Generator().manual_seed(0), device="cuda")
    x = normal(900, 12, dtype=torch.float32).cuda().requires_grad_()
    out = f([x], [f.neighbors(csr)])
    got = torch.autograd.grad(out.square().sum(), [x, *f.parameters()])
    f.double()
    x = x.detach().double().requires_grad_()
    wanted = set_function_reference(f, [x], [csr])
    exact = torch.autograd.grad(wanted.square().sum(), [x, *f.parameters()])
    for ours, theirs in zip((out, *got), (wanted, *exact), strict=True):
        assert (ours - theirs).norm() < 1e-3 * theirs.norm()
