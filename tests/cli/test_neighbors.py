"""`pine neighbors`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import pine, refused, write_ring

from pine import Graph
from pine.baselines import LabelPropagation


@pytest.mark.parametrize("method", ["pine", "start"])
def test_neighbors_are_found_in_runs_of_every_method(tmp_path: Path, method: str):
    edges, _ = write_ring(tmp_path)
    assert pine("train", edges, "--method", method, "--out", tmp_path / "run").returncode == 0
    lines = pine("neighbors", tmp_path / "run", "v3", "-k", 4).stdout.splitlines()
    cosines = [float(line.split("\t")[0]) for line in lines]
    assert len(lines) == 4
    assert cosines == sorted(cosines, reverse=True)
    assert "v3" not in {line.split("\t")[1] for line in lines}
    assert "no node 'v99'" in refused(pine("neighbors", tmp_path / "run", "v99"))


def test_a_node_with_an_integer_for_an_id_is_found_by_its_text(tmp_path: Path):
    graph = Graph.from_edges([(-1, 20), (20, 3), (3, -1)])
    LabelPropagation().fit(graph, {-1: "x", 3: "y"}).save(tmp_path / "run")
    for node in ("20", "-1"):
        done = pine("neighbors", tmp_path / "run", "--", node)
        assert len(done.stdout.splitlines()) == 2, done.stderr
