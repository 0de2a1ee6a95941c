"""SetFunction: equal to eq. (nn-main) written out, blind to order within a group and to nothing else."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tensors import generator, make, normal, random_csr

import pine.nn.messages as messages_module
from pine.errors import InputError
from pine.graph.csr import CSR, build_csr
from pine.nn import SetFunction, neighbor_sum, set_function_reference

SIGMA = {"tanh": math.tanh, "sigmoid": lambda z: 1 / (1 + math.exp(-z))}


def one_set(size):
    """One target whose neighbors are all of `size` nodes."""
    return CSR(np.array([0, size]), np.arange(size, dtype=np.int32), None, size)


def by_hand(f, own, xs):
    """Eq. (nn-main) for one output, as printed."""
    sigma, out = SIGMA[f.sigma], 0.0
    for unit in range(f.L):
        inner, w = float(own["b"][unit]), iter(own["W"][unit].tolist())
        for k, x in enumerate(xs):
            a, u, v = own[f"a.{k}"], own[f"u.{k}"].expand(f.T[k], f.Q[k]), own[f"v.{k}"]
            for t, q in product(range(f.T[k]), range(f.Q[k])):
                inner += next(w) * sum(sigma(float(u[t, q] * (a[t] @ x_n) + v[q])) for x_n in x)
        out += float(own["c"][unit]) * sigma(inner)
    return out


@pytest.mark.parametrize("sigma", ["tanh", "sigmoid"])
@pytest.mark.parametrize("scales", ["shared", "per-projection"])
@pytest.mark.parametrize("heads", ["shared", "separate"])
def test_the_formula_term_by_term(sigma, scales, heads):
    f = make(sigma=sigma, scales=scales, heads=heads)
    with torch.no_grad():
        f.b.copy_(normal(*f.b.shape, seed=9))
    xs = [normal(3, 3, seed=1), normal(2, 5, seed=2)]
    wanted = []
    for m in range(f.d):
        own = {name: value[m] if heads == "separate" else value for name, value in f.state_dict().items()}
        own["c"] = own["c"][0] if heads == "separate" else own["c"][m]
        wanted.append(by_hand(f, own, xs))
    out = f(xs, [one_set(3), one_set(2)])
    assert out.shape == (1, 4)
    assert out[0].tolist() == pytest.approx(wanted, rel=1e-12)


OPTIONS: dict[str, list[Any]] = {
    "sigma": ["tanh", "sigmoid"],
    "scales": ["shared", "per-projection"],
    "heads": ["shared", "separate"],
    "h": ["two-layer", "three-layer"],
    "scaling": ["sum", "sqrt", "mean"],
    "conditioned": [False, True],
    "centered": [False, True],
    "batch": [None, 2],
}


@settings(max_examples=80, deadline=None)
@given(options=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in OPTIONS.items()}))
def test_w_before_the_sum_equals_w_after_it_in_value_and_every_gradient(options):
    f = make(**options)
    lead = () if f.batch is None else (f.batch,)
    groups = [random_csr(13, 9, 30, weighted=True), random_csr(13, 11, 8)]
    xs = [normal(*lead, 9, 3).requires_grad_(), normal(11, 5, seed=1).requires_grad_()]
    upstream = normal(*lead, 13, 4, seed=2)
    parameters = [*f.parameters(), *xs]
    # A few nodes at a time, so that there are several parts and an uneven last one.
    f.chunk = 64
    out = f(xs, groups)
    gradients = torch.autograd.grad(out, parameters, upstream)
    wanted = set_function_reference(f, xs, groups)
    torch.testing.assert_close(out, wanted, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(gradients, torch.autograd.grad(wanted, parameters, upstream), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("scales", ["shared", "per-projection"])
@pytest.mark.parametrize("sigma", ["tanh", "sigmoid"])
def test_gradients_are_those_of_the_formula(scales, sigma):
    f = make(L=3, T=(2, 1), Q=(2, 3), d=2, scales=scales, sigma=sigma, centered=True, scaling="sqrt")
    groups = [random_csr(4, 5, 7, weighted=True), random_csr(4, 3, 4)]
    names = [name for name, _ in f.named_parameters()]

    def of(x, y, *values):
        return torch.func.functional_call(f, dict(zip(names, values, strict=True)), ([x, y], groups))

    xs = [normal(5, 3).requires_grad_(), normal(3, 5, seed=1).requires_grad_()]
    assert torch.autograd.gradcheck(of, (*xs, *f.parameters()))


@pytest.mark.parametrize("nodes", [0, 1, 2, 127, 128, 129, 300])
def test_any_number_of_nodes_goes_through_in_parts_of_any_size(nodes):
    f = make(M=(3,), T=2, Q=2)
    x = normal(nodes, 3)
    whole = f.messages([x])[0]
    assert whole.shape == (nodes, f.L)
    for floats in (1, 4 * 128, 4 * 100 + 1):
        f.chunk = floats
        torch.testing.assert_close(f.messages([x])[0], whole, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(f.g(0, x) @ f.W.mT, whole, rtol=1e-13, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_neighbor_order_within_a_group_does_not_matter_and_the_group_of_a_neighbor_does(data):
    f = make(M=(2, 2), scaling=data.draw(st.sampled_from(["sum", "sqrt", "mean"])))
    sizes = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    xs = torch.split(normal(sum(sizes), 2, seed=data.draw(st.integers(0, 10**6))), sizes)
    groups = [one_set(size) for size in sizes]
    orders = [data.draw(st.permutations(range(size))) for size in sizes]
    out = f(xs, groups)
    torch.testing.assert_close(f([x[order] for x, order in zip(xs, orders, strict=True)], groups), out)
    # One neighbor of each group changes places with the other's.
    swapped = [torch.cat([xs[1][:1], xs[0][1:]]), torch.cat([xs[0][:1], xs[1][1:]])]
    assert (f(swapped, groups) - out).abs().max() > 1e-6


def test_the_numbering_of_nodes_does_not_matter(draw_csr):
    f = make(M=(3,), T=3, Q=2)
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 20, 50), rng.integers(0, 20, 50)
    order = rng.permutation(20)
    x = normal(20, 3)
    moved = torch.empty_like(x)
    moved[order] = x
    out = f([x], [build_csr(source, target, None, (20, 20))])
    torch.testing.assert_close(f([moved], [build_csr(order[source], order[target], None, (20, 20))])[order], out)


def test_a_group_without_neighbors_contributes_nothing():
    f = make()
    xs = [normal(3, 3), normal(2, 5)]
    nobody = CSR(np.zeros(2, np.int64), np.empty(0, np.int32), None, 2)
    of_no_nodes = CSR(np.zeros(2, np.int64), np.empty(0, np.int32), None, 0)
    alone = f.h(torch.cat([f.g(0, xs[0]).sum(0), torch.zeros(14, dtype=torch.float64)])[None])
    torch.testing.assert_close(f(xs, [one_set(3), nobody]), alone)
    torch.testing.assert_close(f(xs, [one_set(3), None]), alone)
    torch.testing.assert_close(f([xs[0], normal(0, 5)], [one_set(3), of_no_nodes]), alone)


def test_a_node_without_any_neighbor_gets_h_of_zero_whatever_the_scaling():
    for scaling in ("sum", "sqrt", "mean"):
        f = make(scaling=scaling, centered=True)
        nobody = [CSR(np.zeros(3, np.int64), np.empty(0, np.int32), None, n) for n in (4, 6)]
        out = f([normal(4, 3), normal(6, 5)], nobody)
        torch.testing.assert_close(out, f.h(torch.zeros(2, 20, dtype=torch.float64)))


def test_one_function_serves_targets_of_every_type_and_g_runs_once_for_all():
    f = make()
    xs = [normal(9, 3), normal(11, 5)]
    of_one_type, of_another = [random_csr(7, 9, 20), random_csr(7, 11, 20)], [None, random_csr(5, 11, 9)]
    said = f.messages(xs)
    torch.testing.assert_close(f.combine(said, of_one_type), f(xs, of_one_type))
    torch.testing.assert_close(f.combine(said, of_another), f(xs, of_another))


def test_what_does_not_fit_is_explained(draw_csr):
    f = make()
    xs, groups = [normal(9, 3), normal(11, 5)], [random_csr(7, 9, 20), random_csr(7, 11, 20)]
    with pytest.raises(InputError, match="xs must be a sequence of 2 tensors, one per group, got 1"):
        f(xs[:1], groups)
    with pytest.raises(InputError, match="one per group, got one tensor"):
        make(M=(3,), T=2, Q=2)(xs[0], groups[:1])
    with pytest.raises(InputError, match=r"vectors of group 1 must have shape \(N, 5\), got \(9, 3\)"):
        f([xs[0], xs[0]], groups)
    with pytest.raises(InputError, match="groups must have one entry per group, 2, got 1"):
        f(xs, groups[:1])
    with pytest.raises(InputError, match="every group is None"):
        f(xs, [None, None])
    with pytest.raises(InputError, match=r"shape \(11, width\), got \(9, 6\)"):
        f(xs, groups[::-1])
    for wrong, message in {
        "sigma": "sigma must be one of 'tanh', 'sigmoid', got 'x'",
        "scales": "scales must be one of",
        "heads": "heads must be one of",
        "h": "h must be one of",
        "scaling": "scaling must be one of",
    }.items():
        with pytest.raises(InputError, match=message):
            make(**{wrong: "x"})
    wrong_sizes: tuple[Any, ...] = (64, [], [3, 0])
    for M in wrong_sizes:
        with pytest.raises(InputError, match=r"as in \[64\] for one group, got"):
            SetFunction(M, 4)
    with pytest.raises(InputError, match="dropout must be in"):
        make(dropout=1.0)
    with pytest.raises(InputError, match="T must be one positive number, or one for each of the 2 groups"):
        make(T=(1, 2, 3))


def test_summed_messages_are_what_the_sum_of_g_becomes_under_w():
    f = make(M=(3,), T=3, Q=2)
    csr, x = random_csr(7, 9, 20), normal(9, 3)
    torch.testing.assert_close(neighbor_sum(f.messages([x])[0], csr), neighbor_sum(f.g(0, x), csr) @ f.W.mT)


@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("scales", ["shared", "per-projection"])
@pytest.mark.parametrize("sigma", ["tanh", "sigmoid"])
def test_other_devices_compute_the_same_in_torch_alone(monkeypatch, sigma, scales, batch):
    monkeypatch.setattr(messages_module, "layer_is_fast", lambda x: False)
    f = make(sigma=sigma, scales=scales, batch=batch, centered=True)
    f.chunk = 64
    lead = () if batch is None else (batch,)
    groups = [random_csr(13, 9, 30, weighted=True), random_csr(13, 11, 8)]
    xs = [normal(*lead, 9, 3).requires_grad_(), normal(11, 5, seed=1)]  # the second one is not learned
    parameters = [*f.parameters(), xs[0]]
    out, wanted = f(xs, groups), set_function_reference(f, xs, groups)
    upstream = normal(*wanted.shape, seed=2)
    torch.testing.assert_close(out, wanted, rtol=1e-11, atol=1e-11)
    gradients = torch.autograd.grad(out, parameters, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(wanted, parameters, upstream), rtol=1e-10, atol=1e-10)
    f.requires_grad_(False)  # vectors are learned where f is not
    torch.testing.assert_close(torch.autograd.grad(f(xs, groups), xs[0], upstream), gradients[-1:])


def test_g_is_the_definition_and_drops_nothing_while_messages_do():
    f = make(dropout=0.5)
    x = normal(20, 3)
    torch.testing.assert_close(f.g(0, x), f.eval().g(0, x))
    assert not torch.equal(
        f.train().messages([x, normal(20, 5)], generator(1))[0], f.eval().messages([x, normal(20, 5)])[0]
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("scales", ["shared", "per-projection"])
def test_a_cuda_device_gives_the_definition_too(scales):
    groups = [random_csr(70, 90, 200, weighted=True), random_csr(70, 110, 200)]
    f = make(scales=scales, centered=True, conditioned=True, scaling="sqrt", device="cuda")
    xs = [normal(90, 3).cuda().requires_grad_(), normal(110, 5).cuda().requires_grad_()]
    parameters = [*f.parameters(), *xs]
    out, wanted = f(xs, [f.neighbors(csr) for csr in groups]), set_function_reference(f, xs, groups)
    torch.testing.assert_close(out, wanted, rtol=1e-10, atol=1e-10)
    got = torch.autograd.grad(out.square().sum(), parameters)
    torch.testing.assert_close(got, torch.autograd.grad(wanted.square().sum(), parameters), rtol=1e-9, atol=1e-9)
