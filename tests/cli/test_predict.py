"""`pine predict`: labels of all nodes, or of those without one, in the form that the file's ending says."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.command_line import pine, refused, write_ring

from pine import PINE, Graph
from pine.methods import load_run
from pine.model import Propagation


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A trained run on a ring of which six nodes have a label."""
    folder = tmp_path_factory.mktemp("ring")
    edges, _ = write_ring(folder)
    (folder / "labels.csv").write_text(
        "id,label\n" + "".join(f"v{i},{'left' if i < 6 else 'right'}\n" for i in range(0, 12, 2))
    )
    done = pine("train", edges, "--labels", folder / "labels.csv", "--out", folder / "run", "--epochs", 3)
    assert done.returncode == 0, done.stderr
    return folder


def rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_every_node_gets_a_label_and_its_probability_in_every_form(folder: Path):
    model = load_run(folder / "run")
    chances = model.predict_proba()
    for ending in ("csv", "tsv", "parquet", "jsonl"):
        file = folder / f"all.{ending}"
        done = pine("predict", folder / "run", "--out", file)
        assert done.stdout == f"12 predictions in {file}\n"
        if ending == "parquet":
            found = pq.read_table(file).to_pylist()
        elif ending == "jsonl":
            found = [json.loads(line) for line in file.read_text().splitlines()]
        else:
            found = rows(file, "\t" if ending == "tsv" else ",")
        assert list(found[0]) == ["id", "type", "label", "probability"]
        assert [row["id"] for row in found] == model.nodes_.of().to_list()
        assert [row["label"] for row in found] == model.predict().tolist()
        np.testing.assert_allclose([float(row["probability"]) for row in found], chances.max(axis=1), atol=1e-5)


def test_unlabeled_nodes_alone_and_unseen_ones_of_another_graph(folder: Path):
    pine("predict", folder / "run", "--unlabeled", "--out", folder / "odd.csv")
    assert [row["id"] for row in rows(folder / "odd.csv")] == [f"v{i}" for i in range(1, 12, 2)]
    done = pine("predict", folder / "run", folder / "grown.csv", "--unlabeled", "--out", folder / "grown-odd.csv")
    assert done.returncode == 0, done.stderr
    assert {row["id"] for row in rows(folder / "grown-odd.csv")} == {*(f"v{i}" for i in range(1, 12, 2)), "new"}


def test_an_ending_that_says_nothing_and_a_run_without_labels_are_refused(folder: Path, tmp_path: Path):
    assert "must end in one of '.csv', '.tsv', '.parquet', '.jsonl'" in refused(
        pine("predict", folder / "run", "--out", tmp_path / "x.xlsx")
    )
    Propagation(dim=2).fit(Graph.from_edges([(0, 1)])).save(tmp_path / "walks")
    assert "was fitted without labels and cannot predict" in refused(
        pine("predict", tmp_path / "walks", "--out", tmp_path / "x.csv")
    )
    assert "is not a saved run" in refused(pine("predict", tmp_path / "nothing", "--out", tmp_path / "x.csv"))


def test_label_sets_are_joined_in_text_and_lists_elsewhere(tmp_path: Path):
    labels = {0: {"a", "b"}, 1: {"a", "b"}, 2: {"c"}, 3: {"c"}}
    graph = Graph.from_edges([(0, 1), (1, 0), (2, 3)])
    PINE(dim=4, epochs=1, label_share=0.9).fit(graph, labels).save(tmp_path / "run")
    assert pine("predict", tmp_path / "run", "--out", tmp_path / "p.csv", "--separator", "|").returncode == 0
    found = rows(tmp_path / "p.csv")
    assert found[0]["label"] == "a|b"
    assert len(found[0]["probability"].split("|")) == 2
    assert pine("predict", tmp_path / "run", "--out", tmp_path / "p.parquet").returncode == 0
    assert pq.read_table(tmp_path / "p.parquet")["label"].to_pylist()[0] == ["a", "b"]
    assert "choose another --separator" in refused(
        pine("predict", tmp_path / "run", "--out", tmp_path / "q.csv", "--separator", "a")
    )
    assert not (tmp_path / "q.csv").exists()


def test_numbers_are_predicted_without_probabilities(tmp_path: Path):
    graph = Graph.from_edges([(i, i + 1) for i in range(5)])
    model = PINE(dim=4, epochs=1).fit(graph, {0: 0.5, 2: 1.5, 4: 3.5})
    model.save(tmp_path / "run")
    assert pine("predict", tmp_path / "run", "--out", tmp_path / "p.csv").returncode == 0
    found = rows(tmp_path / "p.csv")
    assert list(found[0]) == ["id", "type", "label"]
    np.testing.assert_allclose([float(row["label"]) for row in found], model.predict(), rtol=1e-5)
