"""SetFunction's options, each alone: heads, batch, conditioning, centering, dropout, and the source of randomness."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from support.tensors import generator, make, normal, random_csr

from pine.errors import InputError
from pine.nn import Neighbors, SetFunction


def test_shapes_are_the_papers():
    f = SetFunction([64, 7], 10, T=[4, 3], Q=[2, 5])
    assert {name: tuple(p.shape) for name, p in f.named_parameters()} == {
        "a.0": (4, 64), "a.1": (3, 7), "u.0": (2,), "u.1": (5,), "v.0": (2,), "v.1": (5,),
        "W": (16, 23), "b": (16,), "c": (10, 16),
    }  # fmt: skip
    assert [tuple(u.shape) for u in make(scales="per-projection").u] == [(3, 2), (2, 7)]
    assert tuple(make(h="three-layer").B.shape) == (6, 6)
    assert (SetFunction([64], 64).T, SetFunction([64], 64).Q, SetFunction([64], 64).L) == ((32,), (16,), 16)


def test_separate_heads_are_functions_of_their_own():
    together = make(heads="separate")
    xs, groups = [normal(9, 3), normal(11, 5)], [random_csr(7, 9, 20), random_csr(7, 11, 20)]
    columns = []
    for m in range(4):
        alone = make(d=1)
        alone.load_state_dict({name: value[m] for name, value in together.state_dict().items()})
        columns.append(alone(xs, groups))
    torch.testing.assert_close(together(xs, groups), torch.cat(columns, dim=1))
    # And a change to one moves its output alone.
    before = together(xs, groups)
    with torch.no_grad():
        together.a[0][2] += 1
    assert (together(xs, groups) != before).any(0).tolist() == [False, False, True, False]


@pytest.mark.parametrize("heads", ["shared", "separate"])
def test_a_batch_is_that_many_functions_side_by_side(heads):
    batch = make(batch=3, heads=heads, h="three-layer", centered=True, conditioned=True)
    groups = [random_csr(7, 9, 20), random_csr(7, 11, 20)]
    own, common = normal(3, 9, 3), normal(11, 5)
    out = batch([own, common], groups)
    assert out.shape == (3, 7, 4)
    for i in range(3):
        alone = make(heads=heads, h="three-layer", centered=True, conditioned=True)
        alone.load_state_dict({name: value[i] for name, value in batch.state_dict().items()})
        torch.testing.assert_close(alone([own[i], common], groups), out[i])


def test_conditioning_divides_inside_the_formula_and_keeps_parameters_of_order_1():
    f, plain = make(conditioned=True, h="three-layer"), make(h="three-layer")
    state = f.state_dict()
    for name in ("W", "B", "c"):
        assert 0.5 < float(state[name].std()) < 2
        state[name] = state[name] / math.sqrt(state[name].shape[-1])
    plain.load_state_dict(state)
    xs, groups = [normal(9, 3), normal(11, 5)], [random_csr(7, 9, 20), random_csr(7, 11, 20)]
    torch.testing.assert_close(f(xs, groups), plain(xs, groups))


def test_centering_takes_g_of_zero_off():
    f, plain = make(centered=True), make()
    x, zero = normal(6, 3), torch.zeros(1, 3, dtype=torch.float64)
    torch.testing.assert_close(f.g(0, x), plain.g(0, x) - plain.g(0, zero))
    assert not f.g(0, zero).any()


def test_dropout_hides_a_coordinate_of_a_node_from_all_who_see_it_and_only_in_training():
    f = make(M=(40,), T=3, Q=2, dropout=0.25)
    x = normal(50, 40).abs() + 1
    csr = random_csr(30, 50, 90)
    seen = f._dropped(0, x, generator(1), None)
    hidden = seen == 0
    assert 0.2 < float(hidden.double().mean()) < 0.3
    torch.testing.assert_close(seen[~hidden], x[~hidden] / 0.75)
    torch.testing.assert_close(f([x], [csr], generator(1)), f.eval()([seen], [csr]))
    f.train()
    assert torch.equal(f([x], [csr], generator(1)), f([x], [csr], generator(1)))
    assert not torch.equal(f([x], [csr], generator(1)), f([x], [csr], generator(2)))
    with pytest.raises(InputError, match=r"pass generator=torch.Generator\(\), or call .eval\(\)"):
        f([x], [csr])
    assert torch.equal(f.eval()([x], [csr]), f([x], [csr], generator(5)))


def test_the_same_generator_makes_the_same_function_and_the_global_one_is_left_alone():
    state, threads, dtype = torch.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype()
    numpy_state = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    one, same, other = make(seed=3, dropout=0.5), make(seed=3, dropout=0.5), make(seed=4, dropout=0.5)
    xs, groups = [normal(9, 3), normal(11, 5)], [random_csr(7, 9, 20), random_csr(7, 11, 20)]
    out = one(xs, groups, generator(0))
    out.sum().backward()
    assert torch.equal(out, same(xs, groups, generator(0)))
    assert not torch.equal(out, other(xs, groups, generator(0)))
    assert torch.equal(torch.get_rng_state(), state)
    assert (torch.get_num_threads(), torch.get_default_dtype()) == (threads, dtype)
    assert (np.random.get_state(legacy=False)["state"]["key"] == numpy_state).all()  # noqa: NPY002


def test_a_start_gives_values_of_order_1_at_the_papers_size():
    tuned: dict[str, Any] = {"conditioned": True, "centered": True, "scaling": "sqrt"}
    for options in ({}, tuned):
        f = SetFunction([64], 64, generator=generator(), **options)
        out = f([normal(500, 64, dtype=torch.float32)], [random_csr(500, 500, 2500)])
        assert 0.2 < float(out.detach().std()) < 3
        assert torch.isfinite(out).all()


def test_inputs_that_need_no_gradient_get_none(draw_csr):
    f = make(M=(3,), T=2, Q=2)
    x = normal(8, 3)
    f([x], [draw_csr(5, 8)]).sum().backward()
    assert x.grad is None
    assert all(p.grad is not None for p in f.parameters())


def test_neighbors_are_prepared_with_the_functions_own_scaling(draw_csr):
    f = make(M=(3,), T=2, Q=2, scaling="mean")
    csr = draw_csr(5, 8)
    assert f.neighbors(csr, threads=2).scaling == "mean"
    x = normal(8, 3)
    assert torch.equal(f([x], [f.neighbors(csr)]), f([x], [csr]))
    with pytest.raises(InputError, match="made with scaling 'sum', got 'mean'"):
        f([x], [Neighbors.of(csr)])
