"""`pine neighbors`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import pine, refused, write_ring

from pine import Graph
from pine.baselines import LabelPropagation
from pine.model import Propagation


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
    for node in ("²", "9" * 30, "9" * 5000, "\udcff"):
        assert "no" in refused(pine("neighbors", tmp_path / "run", node))
    for node in ("20", "-1"):
        done = pine("neighbors", tmp_path / "run", "--", node)
        assert len(done.stdout.splitlines()) == 2, done.stderr


def test_ids_that_could_change_a_terminal_are_printed_as_escapes(tmp_path: Path):
    Propagation(dim=2).fit(Graph.from_edges([("a", "\x1b[31mb"), ("a", "c")])).save(tmp_path / "run")
    assert "\\x1b[31mb" in pine("neighbors", tmp_path / "run", "c").stdout


def test_nearest_nodes_of_another_type_are_found_and_ids_print_as_they_are(tmp_path: Path):
    shop = {("buyer", "buys", "thing"): [("[b]ann", 1), ("[b]ann", 2), (":smile:", 2), ("a:b:c", 3)]}
    Propagation(dim=4).fit(Graph.from_relations(shop)).save(tmp_path / "run")
    done = pine("neighbors", tmp_path / "run", "[b]ann", "--to", "thing", "-k", 2)
    assert done.returncode == 0, done.stderr
    assert {line.split("\t")[1] for line in done.stdout.splitlines()} == {"1", "2"}
    done = pine("neighbors", tmp_path / "run", 2, "--to", "buyer")
    assert {line.split("\t")[1] for line in done.stdout.splitlines()} == {"[b]ann", ":smile:", "a:b:c"}
    assert "no node ':heart:'" in refused(pine("neighbors", tmp_path / "run", ":heart:", "--type", "buyer"))
    message = refused(pine("neighbors", tmp_path / "run", "[b]ann", "--to", "thnig"))
    assert "unknown node type 'thnig'; did you mean 'thing'?" in message
    assert "no node '²'" in refused(pine("neighbors", tmp_path / "run", "²", "--type", "thing"))
