"""What a fit needs is counted before it, and what cannot fit is refused with settings that would."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.graphs import two_groups

import pine.model.needs as needs
from pine import PINE, Graph, InputError
from pine.datasets import planted_classes
from pine.model import FunctionSettings, TrainingSettings
from pine.model.init.start import EXACT_NODES
from pine.model.needs import memory_needed

MEMORY = Path(__file__).parents[2] / "benchmarks" / "memory.py"
CASES = [(kind, nodes) for nodes in (1_000, 20_000, 200_000) for kind in ("plain", "features", "typed", "quick")]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "nodes"), [*CASES, ("plain", 1_000_000)])
def test_the_count_is_within_a_quarter_of_the_measured_peak(kind, nodes):
    code = (
        f"import sys; sys.path.insert(0, {str(MEMORY.parent)!r}); import memory; f = memory.measured({kind!r}, {nodes})"
    )
    code += "; print(f['counted'] / f['measured'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    quotient = float(done.stdout)
    print(f"{kind} {nodes:,}: counted / measured = {quotient:.2f}")
    assert 0.75 <= quotient <= 1.25


def test_a_fit_that_cannot_fit_below_an_address_limit_is_refused_before_it_starts():
    code = """
import resource, sys
import numpy as np
import pine
graph = pine.Graph.from_edges(np.random.default_rng(0).integers(0, 300_000, (300_000, 2)), nodes=np.arange(300_000))
model = pine.PINE(device="cpu")  # which imports torch
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 700_000_000, resource.RLIM_INFINITY))
try:
    model.fit(graph, np.arange(300_000) % 3)
except pine.InputError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pine needs 1")
    assert "are free; dim=" in done.stdout
    assert done.stdout.rstrip().endswith("would fit")
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("free", "way_out"),
    [
        (0.7, r"dim=32 \(--dim 32\) would fit"),
        (0.42, r"dim=8 \(--dim 8\) would fit"),
        (0.02, r"no dim would fit: take a smaller graph"),
    ],
)
def test_the_refusal_names_the_largest_dim_that_fits(free, way_out, monkeypatch):
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 10_000, (20_000, 2)), nodes=np.arange(10_000))
    model = PINE(device="cpu")
    arrays = memory_needed(model, graph, 3).host - needs.BASE_BYTES
    monkeypatch.setattr(needs, "resident_memory", lambda: int(needs.BASE_BYTES))
    monkeypatch.setattr(needs, "free_memory", lambda: int(free * arrays))
    with pytest.raises(InputError, match=rf"pine needs .* more memory for this graph and .* are free; {way_out}"):
        model.fit(graph, np.arange(10_000) % 3)


def test_without_training_less_is_needed_and_that_is_a_way_out(monkeypatch):
    graph, labels = two_groups()
    model = PINE(dim=1, device="cpu")
    trained, quick = (memory_needed(PINE(dim=1, device="cpu", epochs=epochs), graph, 2).host for epochs in (5, 0))
    assert quick < trained
    monkeypatch.setattr(needs, "resident_memory", lambda: 0)
    monkeypatch.setattr(needs, "free_memory", lambda: int(quick + trained) // 2)
    with pytest.raises(InputError, match=r"epochs=0 \(--quick\) would fit"):
        model.fit(graph, labels)


def test_every_setting_that_takes_memory_is_counted():
    graph, _ = two_groups()
    plain = memory_needed(PINE(device="cpu"), graph, 3).host
    more = [
        memory_needed(PINE(device="cpu", dim=128), graph, 3).host,
        memory_needed(PINE(device="cpu", groups="relation"), graph, 3).host,
        memory_needed(PINE(device="cpu"), graph, 500).host,
        memory_needed(PINE(device="cpu"), graph.with_features(np.ones((40, 30), np.float32)), 3).host,
        memory_needed(PINE.paper().set_params(device="cpu"), graph, 3).host,
    ]
    assert all(each > plain for each in more)
    assert memory_needed(PINE(device="cpu"), graph, None).host < plain


# Peaks of `python benchmarks/memory.py --device cuda` on an H200, in MB of the GPU and of the host (docs/trust.md).
ON_A_GPU = {("plain", 1_000): (1333, 1847), ("quick", 20_000): (1108, 1439), ("features", 20_000): (1702, 1799)}


@pytest.mark.parametrize(("kind", "nodes"), ON_A_GPU)
def test_the_count_for_a_gpu_is_within_a_quarter_of_the_peaks_that_were_measured_there(kind, nodes, monkeypatch):
    monkeypatch.setattr(needs, "device_of", lambda name: torch.device("cuda"))
    graph, _ = planted_classes(nodes)
    if kind == "features":
        graph = graph.with_features(np.ones((nodes, 100), np.float32))
    need = memory_needed(PINE(epochs=0 if kind == "quick" else 5), graph, 50)
    gpu, host = ON_A_GPU[kind, nodes]
    assert 0.75 <= need.gpu / 1e6 / gpu <= 1.25
    assert 0.75 <= need.host / 1e6 / host <= 1.25


def test_what_is_short_on_a_gpu_is_said(monkeypatch):
    graph, _ = two_groups()
    monkeypatch.setattr(needs, "device_of", lambda name: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10**9, 10**9))
    with pytest.raises(InputError, match=r"pine needs 1\.3 GB more GPU memory .* epochs=0 \(--quick\) would fit"):
        needs.require_memory_for_fit(PINE(), graph, 2)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_arrays_grow_with_the_number_of_nodes_and_of_classes(monkeypatch, device):
    monkeypatch.setattr(needs, "device_of", lambda name: torch.device(device))

    def needed(nodes: int, classes: int) -> np.ndarray:
        graph = Graph.from_edges(np.empty((0, 2), np.int64), nodes=np.arange(nodes))
        need = memory_needed(PINE(dim=64, epochs=5), graph, classes)
        return np.array([need.host, need.gpu] if device == "cuda" else [need.host])

    few, some, many = (needed(nodes, 3) for nodes in (20_000, 40_000, 60_000))
    np.testing.assert_allclose(many - some, some - few)
    assert (some - few >= 20_000 * 4 * 4 * 64).all(), "x, f and what they are made of: floats of 4 bytes"
    if device == "cuda":  # a step of training has ten arrays of nodes by classes, what comes back two
        np.testing.assert_allclose(needed(20_000, 5) - few, 4 * 20_000 * 2 * np.array([2, 10]))


@pytest.mark.parametrize("in_blocks", [False, True])
def test_moments_of_two_bytes_take_half_of_what_those_of_four_take(monkeypatch, in_blocks):
    monkeypatch.setattr(needs, "device_of", lambda name: torch.device("cuda"))
    graph, _ = planted_classes(5000)
    each = [
        memory_needed(PINE(training=TrainingSettings(moments=kind)), graph, 3, in_blocks=in_blocks).gpu
        for kind in ("float32", "bfloat16")
    ]
    assert each[0] - each[1] == 4 * 64 * 5000


@pytest.mark.parametrize("groups", ["all", "type", "relation"])
def test_neighbors_of_a_directed_graph_are_counted_from_both_sides(groups):
    graph = Graph.from_relations({("a", "to", "b"): [(0, 1)], ("a", "as", "a"): [(0, 1)]}, directed=True)
    assert needs._num_groups(PINE(groups=groups), graph) == len(graph.groups(groups, "split"))


@pytest.mark.parametrize(
    ("settings", "classes", "on_gpu", "floats"),
    [
        ({"epochs": 5, "groups": "all"}, 0, False, 9 * 64 + 2 * 128),
        ({"epochs": 5, "dim": 8, "groups": "relation"}, 0, False, 7 * 8 + (1 + 2 * 2) * 128),
        ({"epochs": 5, "groups": "all"}, 3, True, 9 * 64 + 2 * 128 + 10 * 3),
        ({"epochs": 0}, 3, True, 3 * 64 + 2 * 128),
        ({"epochs": 0}, None, False, 3 * 64 + 2 * 128),
        ({"epochs": 0}, 500, False, 4 * 64 + 6 * 500),
        ({"epochs": 0}, 500, True, 4 * 64 + 14 * 500),
        ({"epochs": 5, "features": True}, 500, False, 4 * 64 + 21 * 500),
        ({"epochs": 0, "function": FunctionSettings(heads="separate")}, 1, False, 3 * 64 + 2 * 128 * 64),
    ],
)
def test_the_stage_that_holds_the_most_is_counted_by_its_formula(settings, classes, on_gpu, floats):
    graph = Graph.from_relations({("a", "to", "b"): [(0, 1)]}, features={"a": np.ones((1, 1))})
    model = PINE(**{"features": False} | settings)
    assert needs._floats_a_node(model, graph, classes, on_gpu=on_gpu) == floats


def test_edges_features_and_pairs_of_a_small_graph_take_bytes_of_their_own():
    few, many = (Graph.from_edges([(k, k + 1) for k in range(count)], nodes=range(5_000)) for count in (100, 300))

    def needed(graph: Graph, **settings: Any) -> float:
        return memory_needed(PINE(device="cpu", **settings), graph, 2).host

    assert needed(many) - needed(few) == 200 * 2 * 16
    wide, narrow = (np.ones((5_000, width), np.float32) for width in (30, 10))
    assert needed(few.with_features(wide)) - needed(few.with_features(narrow)) == 5_000 * 20 * 16
    assert needed(few.with_features(sp.csr_array(wide))) - needed(few.with_features(sp.csr_array(narrow))) == (
        5_000 * 20 * 34
    )
    small = Graph.from_edges([(0, 1)], nodes=range(EXACT_NODES))
    assert needed(small) - needed(small, training=TrainingSettings(start="random")) == 18 * EXACT_NODES**2
