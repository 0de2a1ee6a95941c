"""struc2vec compares nodes by the degrees around them, walks among those alike, and puts equal ones together."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import pine
from pine import Graph, InputError
from pine._internal import memory
from pine.baselines.struc2vec import struc2vec
from pine.baselines.struc2vec.distances import distances, warped
from pine.baselines.struc2vec.multilayer_graph import Layers
from pine.baselines.struc2vec.pairs import all_pairs, pairs_per_node, similar_pairs
from pine.baselines.struc2vec.rings import RingSizes, find_rings
from pine.baselines.struc2vec.struc2vec import Struc2Vec, bytes_needed
from pine.evaluation import evaluate
from pine.graph.csr import CSR

RNG = np.random.default_rng(0)


def mirrored_karate() -> nx.Graph:
    """Two karate clubs with an edge between the two copies of one member; v and v + 34 are equal in structure."""
    club = nx.karate_club_graph()
    both = nx.Graph(nx.disjoint_union(club, club).edges)
    both.add_edge(0, 34)
    return both


def graph_of(network: nx.Graph) -> Graph:
    return Graph.from_edges(list(network.edges), nodes=range(len(network)))


def scattered(num_nodes: int = 60) -> nx.Graph:
    """A random network with several parts and nodes without neighbors."""
    return nx.gnm_random_graph(num_nodes, num_nodes, seed=3)


def rings_of(links: CSR, farthest: int = -1, threads: int = 1):
    return find_rings(links, RingSizes.of(links, farthest, threads), farthest, threads)


def layers_of(graph: Graph, farthest: int = -1) -> tuple[Layers, np.ndarray, np.ndarray]:
    """The layers of a graph with all pairs, those pairs, and their distances."""
    rings, pairs = rings_of(graph.links(), farthest), all_pairs(graph.num_nodes)
    far = distances(rings, pairs, int(rings.numbers().max()), 1)
    return Layers.of(graph.num_nodes, pairs, far), pairs, far


# ---- rings ----


@pytest.mark.parametrize("farthest", [-1, 0, 2])
def test_rings_hold_the_degrees_that_networkx_finds_at_each_distance(farthest):
    network = scattered()
    rings = rings_of(graph_of(network).links(), farthest)
    for node in network:
        found = nx.single_source_shortest_path_length(network, node, None if farthest < 0 else farthest)
        assert rings.numbers()[node] == max(found.values()) + 1
        for distance in range(rings.numbers()[node]):
            there = Counter(network.degree(other) for other, steps in found.items() if steps == distance)
            assert rings.ring(node, distance) == sorted(there.items())


def test_the_first_look_at_rings_tells_their_size():
    links = graph_of(scattered()).links()
    sizes, rings = RingSizes.of(links, 2, 1), rings_of(links, 2)
    assert sizes.entries.sum() == len(rings.degree)
    assert sizes.nbytes == rings.degree.nbytes + rings.count.nbytes + rings.start[1:].nbytes


# ---- distances ----


def warped_reference(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> float:
    """The cheapest of all ways through two rings, by trying each."""

    @cache
    def from_here(i: int, j: int) -> float:
        (d, a), (e, b) = one[i], other[j]
        here = ((max(d, e) + 0.5) / (min(d, e) + 0.5) - 1) * max(a, b)
        onward = [(i + 1, j), (i, j + 1), (i + 1, j + 1)]
        rest = [from_here(*place) for place in onward if place[0] < len(one) and place[1] < len(other)]
        return here + min(rest, default=0.0)

    return from_here(0, 0)


def random_ring() -> list[tuple[int, int]]:
    degrees = np.sort(RNG.choice(12, RNG.integers(1, 7), replace=False))
    return [(int(degree), int(RNG.integers(1, 9))) for degree in degrees]


def warp(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> float:
    columns = [np.array(column) for ring in (one, other) for column in zip(*ring, strict=True)]
    return warped(*columns, np.empty(len(other) + 1))


def test_warping_finds_the_cheapest_of_all_ways():
    for _ in range(100):
        one, other = random_ring(), random_ring()
        assert warp(one, other) == pytest.approx(warped_reference(one, other), abs=1e-12)


def test_a_ring_is_at_no_distance_from_itself_and_at_the_same_from_both_sides():
    one, other = [(1, 4), (3, 2), (7, 1)], [(2, 4), (7, 1)]
    assert warp(one, one) == 0
    assert warp(one, other) == pytest.approx(warp(other, one))
    assert warp(one, other) > 0


def test_distances_add_up_over_rings_and_end_where_one_node_has_none():
    rings = rings_of(graph_of(scattered()).links())
    pairs = all_pairs(60)
    far = distances(rings, pairs, int(rings.numbers().max()), 1)
    for (u, v), found in zip(pairs[::17], far[::17], strict=True):
        together = min(rings.numbers()[[u, v]])
        steps = [warped_reference(rings.ring(u, k), rings.ring(v, k)) for k in range(together)]
        np.testing.assert_allclose(found[:together], np.cumsum(steps), rtol=1e-6)
        assert np.isinf(found[together:]).all()


def test_nodes_equal_in_structure_are_at_no_distance_in_any_layer():
    rings = rings_of(graph_of(mirrored_karate()).links())
    mirrored = np.stack([np.arange(34), np.arange(34, 68)], axis=1)
    far = distances(rings, mirrored, int(rings.numbers().max()), 1)
    assert (far[np.isfinite(far)] == 0).all()
    others = distances(rings, np.stack([np.arange(34), np.roll(np.arange(34), 5)], axis=1), 2, 1)
    assert others.shape == (34, 2)
    assert (others[:, 1] > 0).mean() > 0.9


# ---- pairs ----


def chosen_reference(degrees: np.ndarray, node: int) -> list[int]:
    """By distance in degree, the larger degree first, then in node order."""
    others = [other for other in range(len(degrees)) if other != node]
    gap = [(abs(degrees[other] - degrees[node]), -degrees[other], other) for other in others]
    return [other for _, _, other in sorted(gap)[: int(2 * np.log2(len(degrees))) + 1]]


def test_each_node_is_compared_with_those_of_the_nearest_degrees():
    degrees = RNG.choice([0, 1, 1, 2, 2, 2, 5, 9, 30], 50)
    wanted = {tuple(sorted((node, other))) for node in range(50) for other in chosen_reference(degrees, node)}
    assert similar_pairs(degrees).tolist() == sorted(map(list, wanted))
    assert pairs_per_node(50) == 12


def test_a_small_graph_compares_all_pairs():
    assert similar_pairs(np.array([4, 1, 2])).tolist() == all_pairs(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert similar_pairs(np.array([0])).shape == (0, 2)


# ---- layers and walks ----


def shares(layers: Layers, row: int) -> dict[int, float]:
    """The chances of a row's links, read back from the alias tables."""
    entries = range(layers.indptr[row], layers.indptr[row + 1])
    found: Counter[int] = Counter()
    for entry in entries:
        found[int(layers.indices[entry])] += layers.keep[entry] / len(entries)
        found[int(layers.indices[layers.indptr[row] + layers.other[entry]])] += (1 - layers.keep[entry]) / len(entries)
    return found


def chances(num_nodes: int, pairs: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By the definition: within each layer (layers, nodes, nodes), and to go up (layers, nodes)."""
    weights = np.zeros((far.shape[1], num_nodes, num_nodes))
    weights[:, pairs[:, 0], pairs[:, 1]] = weights[:, pairs[:, 1], pairs[:, 0]] = np.exp(-far.T.astype(float))
    linked = np.isfinite(far)
    mean = [np.exp(-far[linked[:, k], k].astype(float)).mean() for k in range(far.shape[1])]
    gamma = (weights > np.array(mean)[:, None, None]).sum(axis=2)
    total = weights.sum(axis=2, keepdims=True)
    up = np.log(gamma + np.e) / (np.log(gamma + np.e) + 1)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0), up


def test_links_are_drawn_by_exp_of_minus_distance_and_their_chances_sum_to_one():
    layers, pairs, far = layers_of(graph_of(scattered(12)))
    within, up = chances(12, pairs, far)
    for row in range(len(layers.indptr) - 1):
        found = shares(layers, row)
        layer, node = divmod(row, 12)
        assert not found or sum(found.values()) == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose([found[other] for other in range(12)], within[layer, node], atol=1e-6)
        if found:
            assert layers.up[row] == pytest.approx(up[layer, node], abs=1e-6)


def test_chances_sum_to_one_where_every_weight_would_be_nothing():
    pairs, far = np.array([[0, 1], [0, 2]]), np.array([[5000.0], [5001.0]], np.float32)
    found = shares(Layers.of(3, pairs, far), 0)
    assert found[1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert found[1] + found[2] == pytest.approx(1)


def first_steps(num_nodes: int, pairs: np.ndarray, far: np.ndarray, start: int, stay: float) -> np.ndarray:
    """The chance of every node to be the second of a walk, from the chain of layers that ends at a step."""
    within, up = chances(num_nodes, pairs, far)
    top = int((within[:, start].sum(axis=1) > 0).sum()) - 1
    change = np.zeros((top + 1, top + 1))
    for k in range(top + 1):
        change[k, min(k + 1, top)] += (1 - stay) * up[k, start]
        change[k, max(k - 1, 0)] += (1 - stay) * (1 - up[k, start])
    visits = np.linalg.inv(np.eye(top + 1) - change)[0]
    return stay * visits @ within[: top + 1, start]


@pytest.mark.parametrize("stay", [0.3, 1.0])
def test_walks_change_layers_and_nodes_by_their_chances(stay):
    layers, pairs, far = layers_of(graph_of(nx.lollipop_graph(4, 4)))
    for start in (0, 7):
        steps = layers.walks(np.full(40_000, start), 2, stay, 5, 1)[:, 1]
        found = np.bincount(steps, minlength=8) / len(steps)
        wanted = first_steps(8, pairs, far, start, stay)
        assert wanted.sum() == pytest.approx(1)
        np.testing.assert_allclose(found, wanted, atol=0.01)


def test_walks_begin_at_their_start_and_go_along_links():
    layers, pairs, _ = layers_of(graph_of(scattered()), 3)
    walks = layers.walks(np.arange(60), 30, 0.3, 1, 1)
    linked = {tuple(pair) for pair in pairs.tolist()}
    assert walks[:, 0].tolist() == list(range(60))
    assert all((min(u, v), max(u, v)) in linked for walk in walks for u, v in pairwise(walk))


# ---- vectors ----


def near(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("pairs", ["similar", "all"])
def test_the_two_halves_of_mirrored_karate_fall_together(pairs):
    model = Struc2Vec(dim=16, pairs=pairs, epochs=3).fit(graph_of(mirrored_karate()))
    alike = near(model.embedding_)
    mirrored = alike[np.arange(34), np.arange(34, 68)]
    others = alike[np.triu_indices(68, 1)]
    assert np.median(mirrored) > np.quantile(others, 0.9)
    assert mirrored.mean() > others.mean() + 0.3


def test_the_cliques_of_a_barbell_fall_together_and_its_chain_apart():
    vectors = Struc2Vec(dim=16, epochs=3).fit(graph_of(nx.barbell_graph(10, 10))).embedding_
    alike = near(vectors)
    bells, chain = [*range(9), *range(21, 30)], list(range(12, 18))
    assert alike[np.ix_(bells[:9], bells[9:])].mean() > alike[np.ix_(bells, chain)].mean() + 0.5


def test_seeds_change_vectors_and_threads_do_not():
    graph = graph_of(nx.gnm_random_graph(2100, 4000, seed=1))
    settings = {"walks": 1, "length": 10, "dim": 16, "epochs": 2, "until_layer": 3, "pairs": "similar"}
    one = Struc2Vec(seed=1, threads=1, **settings).fit(graph).embedding_
    np.testing.assert_array_equal(Struc2Vec(seed=1, threads=2, **settings).fit(graph).embedding_, one)
    assert not np.array_equal(Struc2Vec(seed=2, threads=2, **settings).fit(graph).embedding_, one)


QUICK = {"walks": 2, "length": 10, "dim": 8, "epochs": 1}


def test_directions_weights_and_types_are_not_told_apart():
    edges = [(0, 3), (0, 4), (1, 4), (2, 5)]
    plain = Struc2Vec(**QUICK).fit(Graph.from_edges(edges, nodes=range(6))).embedding_
    for options in ({"directed": True}, {"weights": [9.0, 1.0, 2.0, 0.5]}):
        graph = Graph.from_edges(edges, nodes=range(6), **options)
        np.testing.assert_array_equal(Struc2Vec(**QUICK).fit(graph).embedding_, plain)
    mutual = Graph.from_edges([*edges, (4, 0)], nodes=range(6), directed=True)
    np.testing.assert_array_equal(Struc2Vec(**QUICK).fit(mutual).embedding_, plain)
    typed = Graph.from_relations({("a", "to", "b"): [(0, 0), (0, 1), (1, 1), (2, 2)]})
    vectors = Struc2Vec(**QUICK).fit(typed).embedding_
    np.testing.assert_array_equal(np.concatenate([vectors["a"], vectors["b"]]), plain)


@pytest.mark.parametrize("pairs", ["similar", "all"])
@pytest.mark.parametrize(("edges", "num_nodes"), [([], 1), ([], 5), ([(0, 1)], 2), ([(0, 1), (2, 3)], 9)])
def test_graphs_with_little_in_them_get_finite_vectors(edges, num_nodes, pairs):
    graph = Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), nodes=range(num_nodes))
    vectors = Struc2Vec(pairs=pairs, until_layer=None, **QUICK).fit(graph).embedding_
    assert vectors.shape == (num_nodes, 8)
    assert np.isfinite(vectors).all()


# ---- what it needs, and what it refuses ----


def test_the_estimate_of_memory_bounds_what_the_layers_take():
    links = graph_of(nx.gnm_random_graph(400, 1000, seed=2)).links()
    model = Struc2Vec(pairs="all", until_layer=4)
    model._layers(links)  # what is compiled in a first run is not part of it
    tracemalloc.start()
    model._layers(links)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = bytes_needed(400, 400 * 399 // 2, 5, RingSizes.of(links, 4, 1).nbytes, 64)
    assert taken <= needed <= 2 * taken


def test_the_estimate_grows_with_nodes_pairs_and_layers():
    small = bytes_needed(100, 1000, 3, 0, 64)
    assert bytes_needed(100, 2000, 3, 0, 64) > 1.9 * small - 100 * 64 * 8 * 2
    assert bytes_needed(200, 1000, 3, 0, 64) > small
    assert bytes_needed(100, 1000, 6, 0, 64) > small
    assert bytes_needed(100, 1000, 3, 500, 64) == small + 500


def test_what_does_not_fit_in_memory_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    said = r"struc2vec needs .* of memory for this graph and 1 MB are free; lower until_layer"
    with pytest.raises(InputError, match=said):
        Struc2Vec(pairs="all").fit(graph_of(nx.path_graph(500)))
    with pytest.raises(InputError, match=said):
        Struc2Vec(until_layer=None, pairs="similar").fit(graph_of(nx.path_graph(200)))
    Struc2Vec(until_layer=1, pairs="similar", **QUICK).fit(graph_of(nx.path_graph(200)))


def test_all_pairs_are_compared_on_small_graphs_only(monkeypatch):
    graph = graph_of(nx.path_graph(40))
    vectors = {pairs: Struc2Vec(pairs=pairs, **QUICK).fit(graph).embedding_ for pairs in ("auto", "all", "similar")}
    np.testing.assert_array_equal(vectors["auto"], vectors["all"])
    assert (vectors["auto"] != vectors["similar"]).any()
    monkeypatch.setattr(struc2vec, "MOST_FOR_ALL_PAIRS", 39)
    np.testing.assert_array_equal(Struc2Vec(**QUICK).fit(graph).embedding_, vectors["similar"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"walks": 0}, "walks, length and epochs must be at least 1, got 0, 80 and 5"),
        ({"stay": 0.0}, "stay must be a chance above 0 and up to 1, got 0.0"),
        ({"until_layer": -1}, "until_layer must be at least 0, or None for all layers, got -1"),
        ({"pairs": "some"}, "pairs must be one of 'auto', 'similar', 'all', got 'some'"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"window": 0}, "dim, window and negatives must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(settings, said):
    with pytest.raises(InputError, match=said):
        Struc2Vec(**settings).fit(graph_of(nx.path_graph(4)))


@pytest.mark.slow
def test_citation_classes_are_told_a_little_by_structure():
    # The largest class of Cora is .30 of it; roles in a graph say little about the topic of a paper.
    results = list(evaluate(pine.datasets.load("cora"), {"struc2vec": Struc2Vec}, [0.5, 0.9], 1))
    assert all(0.5 < result.scores["accuracy"] < 0.7 for result in results), results
