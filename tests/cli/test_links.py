"""`pine links` and `pine evaluate --task link`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import pine, refused
from support.links import WRITES, graph_of_types, planted

from pine.links.pairs import edge_pairs
from pine.model import Propagation

EDGES = edge_pairs(planted(60), ("node", "to", "node")).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of edges between n0, ..., n59 with times, and a run on it."""
    place = tmp_path_factory.mktemp("links")
    lines = [f"n{u},n{v},{row // 10}" for row, (u, v) in enumerate(EDGES)]
    (place / "edges.csv").write_text("\n".join(["source,target,year", *lines]) + "\n")
    done = pine("train", place / "edges.csv", "--quick", "--dim", 8, "--out", place / "run")
    assert done.returncode == 0, done.stderr
    return place


def linked(one: str, other: str) -> bool:
    pair = sorted((int(one[1:]), int(other[1:])))
    return pair in EDGES


def test_missing_edges_of_a_node_are_printed_the_best_first(folder: Path):
    done = pine("links", folder / "run", "n5", "-k", 4)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    scores = [float(score) for score, _ in rows]
    assert len(rows) == 4, done.stderr
    assert scores == sorted(scores, reverse=True)
    assert not any(node == "n5" or linked("n5", node) for _, node in rows)
    assert "chance of an edge" in done.stderr
    assert f"fitted once more, without {len(EDGES) // 10} edges" in done.stderr


def test_without_a_node_they_are_of_the_whole_graph_and_json_says_what_scores_mean(folder: Path):
    about = json.loads(pine("links", folder / "run", "-k", 6, "--score", "cosine", "--json").stdout)
    assert about["meaning"].startswith("cosine")
    assert len(about["links"]) == 6
    assert not any(linked(each["source"], each["target"]) for each in about["links"])


def test_they_are_written_to_a_file_that_is_whole(folder: Path, tmp_path: Path):
    options = ("--score", "dot", "-k", 3, "--edges", folder / "edges.csv", "--out")
    assert pine("links", folder / "run", "n1", *options, tmp_path / "l.tsv").returncode == 0
    lines = (tmp_path / "l.tsv").read_text().splitlines()
    assert lines[0] == "source\ttarget\tscore"
    assert len(lines) == 4
    assert ".csv or .tsv" in refused(pine("links", folder / "run", "n1", *options, tmp_path / "l.xls"))


def test_what_cannot_be_answered_is_refused_in_a_sentence(folder: Path, tmp_path: Path):
    run = folder / "run"
    assert "did you mean 'n51'" in refused(pine("links", run, "n511"))
    assert "k" in refused(pine("links", run, "n5", "-k", 0))
    assert "--score must be one of" in refused(pine("links", run, "n5", "--score", "euclid"))
    assert "unknown relation" in refused(pine("links", run, "n5", "--of", "a:b:c"))
    assert "unknown node type 'nod'" in refused(pine("links", run, "n5", "--type", "nod"))
    (tmp_path / "other.csv").write_text("source,target\nn1,n2\nn2,n3\n")
    assert "nodes that this model was fitted on" in refused(pine("links", run, "n1", "--edges", tmp_path / "other.csv"))
    Propagation(dim=2).fit(planted(20)).save(tmp_path / "bare")
    assert "does not say which they were: give them, --edges FILE" in refused(pine("links", tmp_path / "bare", "3"))


def test_a_typed_run_is_asked_by_relation(tmp_path: Path):
    graph = graph_of_types()
    files = []
    for relation in graph.relations:
        pairs = [(graph.nodes.id_at(int(u)), graph.nodes.id_at(int(v))) for u, v in edge_pairs(graph, relation)]
        path = tmp_path / f"{relation[1]}.csv"
        path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in pairs))
        files += ["--relation", f"{':'.join(relation)}={path}"]
    assert pine("train", *files, "--quick", "--dim", 4, "--out", tmp_path / "run").returncode == 0
    done = pine("links", tmp_path / "run", "a3", "--of", ":".join(WRITES), "--score", "cosine", "-k", 3)
    assert [line.split("\t")[1][0] for line in done.stdout.splitlines()] == ["p", "p", "p"], done.stderr
    assert "say which: relation" in refused(pine("links", tmp_path / "run", "a3"))


def test_evaluate_holds_out_edges_uniformly_or_by_time(folder: Path, tmp_path: Path):
    path = tmp_path / "runs.json"
    methods = ("--methods", "pine:score=cosine:dim=8,adamic-adar", "--repeats", 2)
    done = pine("evaluate", folder / "edges.csv", "--task", "link", *methods, "--json", path)
    assert done.returncode == 0, done.stderr
    assert "hits-at-10" in done.stdout
    assert "negatives: as many pairs without an edge" in done.stdout
    runs = json.loads(path.read_text())
    assert len(runs) == 4
    assert {"auc", "average_precision", "hits_at_10", "mrr", "seconds"} <= runs[0].keys()
    again = pine("evaluate", folder / "edges.csv", "--task", "link", *methods, "--json", path, "--resume")
    assert again.returncode == 0
    assert json.loads(path.read_text()) == runs
    latest = pine("evaluate", folder / "edges.csv", "--task", "link", *methods, "--time", "year")
    assert "the latest" in latest.stdout, latest.stderr


def test_evaluate_refuses_what_links_have_no_use_for(folder: Path):
    edges = folder / "edges.csv"
    assert "has no column 'yaer'" in refused(pine("evaluate", edges, "--task", "link", "--time", "yaer"))
    assert "leave --split" in refused(pine("evaluate", edges, "--task", "link", "--split", "public"))
    assert "--task link" in refused(pine("evaluate", "cora", "--time", "year"))
    assert "learns from labels" in refused(pine("evaluate", edges, "--task", "link", "--methods", "gcn"))
    assert "one file of edges" in refused(pine("evaluate", "cora", "--task", "link", "--time", "year"))
