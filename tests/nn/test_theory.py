"""The paper's theory by example: symmetrized sums, power sums and polarization, the formula for the maximum."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pine.graph.csr import CSR
from pine.nn import SetFunction, neighbor_sum

NUMBERS = st.lists(st.integers(-9, 9), min_size=1, max_size=6)
POINTS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=6)


def symmetrized(t, *groups):
    """Eq. (simple): the sum of t over all orders of each group, N_1! ... N_K! terms."""
    return sum(t(*orders) for orders in product(*(permutations(group) for group in groups)))


def lopsided(first, second):
    """A function that minds every order."""
    places = [(i + 1) * x**2 for i, x in enumerate(first)] + [(i + 2) * x for i, x in enumerate(second)]
    return sum(places) + first[0] * second[-1]


def set_sums(rows):
    """The sum over one set of its members' rows, by neighbor_sum."""
    rows = torch.tensor(rows, dtype=torch.float64)
    return neighbor_sum(rows, CSR(np.array([0, len(rows)]), np.arange(len(rows), dtype=np.int32), None, len(rows)))[0]


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_symmetrized_sum_minds_no_order_within_a_group(data):
    members = st.lists(st.integers(-9, 9), min_size=1, max_size=4)
    groups = [data.draw(members), data.draw(members)]
    shuffled = [data.draw(st.permutations(group)) for group in groups]
    assert symmetrized(lopsided, *shuffled) == symmetrized(lopsided, *groups)


def test_the_symmetrized_sum_minds_which_group_a_member_is_in():
    assert lopsided([1, 2, 3], [4, 5]) != lopsided([3, 2, 1], [4, 5])
    assert symmetrized(lopsided, [1, 2, 3], [4, 5]) != symmetrized(lopsided, [4, 2, 3], [1, 5])


def test_symmetrizing_a_set_function_only_multiplies_it_because_it_is_invariant_already():
    f = SetFunction([1, 1], 1, L=4, T=2, Q=3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def of(*groups):
        csrs = [CSR(np.array([0, len(g)]), np.arange(len(g), dtype=np.int32), None, len(g)) for g in groups]
        return f([torch.tensor(g, dtype=torch.float64)[:, None] for g in groups], csrs).item()

    groups = [0.3, -1.2, 0.8], [0.5, -0.1, 1.0, 2.0]
    assert symmetrized(of, *groups) == pytest.approx(math.factorial(3) * math.factorial(4) * of(*groups))


def newton(p):
    """Newton's identities: elementary symmetric polynomials e_0, ..., e_n from power sums p_1, ..., p_n, exactly."""
    e = [Fraction(1)]
    for k in range(1, len(p) + 1):
        e.append(sum((-1) ** (i - 1) * e[k - i] * p[i - 1] for i in range(1, k + 1)) / k)
    return e


@settings(max_examples=50, deadline=None)
@given(x=NUMBERS)
def test_power_sums_give_every_elementary_symmetric_polynomial_exactly(x):
    n = len(x)
    power_sums = [Fraction(int(p)) for p in set_sums([[value**j for j in range(1, n + 1)] for value in x])]
    elementary = [sum(math.prod(some) for some in combinations(x, k)) for k in range(n + 1)]
    assert newton(power_sums) == elementary
    assert newton(power_sums)[n] == math.prod(x)


@settings(max_examples=50, deadline=None)
@given(x=NUMBERS, y=NUMBERS)
def test_polynomials_of_two_groups_are_sums_of_products_of_power_sums(x, y):
    p = [Fraction(int(value)) for value in set_sums([[v, v**2] for v in x])]
    q = [Fraction(int(value)) for value in set_sums([[v, v**2, v**3] for v in y])]
    wanted = sum(a * b * c**3 for (a, b), c in product(combinations(x, 2), y))
    assert newton(p)[2] * q[2] == wanted


def solve(matrix, right):
    """Gauss's elimination in fractions."""
    rows = [[Fraction(value) for value in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [value - rows[r][i] * base for value, base in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


@settings(max_examples=50, deadline=None)
@given(points=POINTS, m=st.integers(1, 5))
def test_polarization_power_sums_of_projections_give_all_mixed_moments_of_points_exactly(points, m):
    # (x + t y)^m = sum of C(m, j) t^j x^(m - j) y^j, so m + 1 projections a_t = (1, t) tell all moments of degree m.
    power_sums = set_sums([[(x + t * y) ** m for t in range(m + 1)] for x, y in points])
    vandermonde = [[math.comb(m, j) * t**j for j in range(m + 1)] for t in range(m + 1)]
    moments = solve(vandermonde, [int(p) for p in power_sums])
    assert moments == [sum(x ** (m - j) * y**j for x, y in points) for j in range(m + 1)]


def test_units_of_g_come_close_to_every_power_as_their_number_grows():
    y = torch.linspace(-1, 1, 201, dtype=torch.float64)[:, None]
    powers = torch.cat([y**j for j in range(1, 6)], dim=1)
    worst = []
    for Q in (2, 6, 18):
        misses = []
        for seed in range(5):
            f = SetFunction([1], 1, T=1, Q=Q, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
            units = torch.cat([f.g(0, y).detach(), torch.ones_like(y)], dim=1)
            fit = torch.linalg.lstsq(units, powers, driver="gelsd").solution
            misses.append(float((units @ fit - powers).abs().max()))
        worst.append(np.median(misses))
    assert worst[1] < worst[0] / 10
    assert worst[2] < worst[1] / 10


@settings(max_examples=30, deadline=None)
@given(x=st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_the_papers_g_and_h_approach_the_maximum_as_k_grows(x):
    errors = []
    for k in (1, 4, 16, 64, 256):
        weighted, weights = set_sums([[math.exp(k * z) * z, math.exp(k * z)] for z in x])
        errors.append(max(x) - float(weighted / weights))
    assert all(after <= before + 1e-12 for before, after in pairwise(errors))
    assert -1e-12 <= errors[-1] <= math.log(len(x)) / 256 + 1e-12
