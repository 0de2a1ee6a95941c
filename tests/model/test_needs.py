"""What a fit needs is counted before it, and what cannot fit is refused with settings that would."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.graphs import two_groups

import pine.model.needs as needs
from pine import PINE, Graph, InputError
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
