"""`pine train`: from the user's own files to a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import pine, pine_process, refused, write_ring

from pine import METHODS, PINE
from pine.methods import load_run


def test_train_saves_a_run_from_the_users_own_files(tmp_path: Path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\nd,e\n")
    (tmp_path / "labels.csv").write_text("id,label\na,red\nd,blue\n")
    done = pine_process("train", tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert set(load_run(tmp_path / "run").predict(["b", "e"])) <= {"red", "blue"}
    assert load_run(tmp_path / "run").name == "pine"


def test_train_starts_from_an_earlier_run_and_says_where_it_cannot(tmp_path: Path):
    edges, grown = write_ring(tmp_path)
    assert pine("train", edges, "--out", tmp_path / "run").returncode == 0
    again = ["train", grown, "--overwrite", "--out", tmp_path / "again", "--start-from"]
    done = pine(*again, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    first, second = PINE.load(tmp_path / "run"), PINE.load(tmp_path / "again")
    assert 3 * len(second.learned_.history) == len(first.learned_.history)
    assert "new" in second.nodes_.of("node").to_list()
    assert "is not a saved run" in refused(pine(*again, tmp_path / "nothing"))
    assert "cannot start from an earlier run" in refused(pine(*again, tmp_path / "run", "--method", "start"))


def test_train_takes_typed_graphs_and_label_sets(tmp_path: Path):
    (tmp_path / "w.tsv").write_text("ann\t1\nbob\t1\neve\t2\n")
    (tmp_path / "c.txt").write_text("1 3\n2 4\n")
    (tmp_path / "l.csv").write_text("ann,x\nann,y\neve,z\n")
    done = pine(
        "train", "--relation", f"author:writes:paper={tmp_path / 'w.tsv'}", "--relation",
        f"paper:cites:paper={tmp_path / 'c.txt'}", "--labels", tmp_path / "l.csv", "--label-type", "author",
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = load_run(tmp_path / "run")
    assert loaded.classes_.tolist() == ["x", "y", "z"]
    assert set(loaded.embedding_) == {"author", "paper"}


@pytest.mark.parametrize(
    ("edges", "labels", "message"),
    [
        ("a,b\nb,d,e\n", "a,x\n", "edges.csv, line 2: expected 2 fields"),
        ("u,v,weight\na,b,-1\n", "a,x\n", "edges.csv, line 2: the weight is negative"),
        ("", "a,x\n", "edges.csv is empty"),
        ("a,b\n", "y,x\nz,x\n", "labels.csv: no node has a label; ids such as 'y' are not in the graph"),
        ("a,b\n", "a,\nb,NA\n", "labels.csv: no node has a label"),
        ("a,b\n", "", "labels.csv is empty"),
        ("a,b\n", "a\n", "labels.csv, line 1: expected at least two columns"),
    ],
)
def test_bad_files_are_refused_with_exit_code_2_and_one_sentence(tmp_path: Path, edges: str, labels: str, message: str):
    (tmp_path / "edges.csv").write_text(edges)
    (tmp_path / "labels.csv").write_text(labels)
    done = pine("train", tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "run")
    assert message in refused(done)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv"], "cannot read no.csv"),
        ([], "give either one file of edges, or relations"),
        (["--relation", "a:b=c"], "a relation is given as SRC:REL:DST=FILE"),
    ],
)
def test_wrong_arguments_of_train_are_refused(tmp_path: Path, arguments: list[str], message: str):
    assert message in refused(pine("train", *arguments, "--out", "run", cwd=tmp_path))


@pytest.fixture
def features(tmp_path: Path) -> Path:
    """Features of some of the ring's nodes, in another order."""
    lines = [f"v{i},{i % 2},{i / 10}\n" for i in (7, 3, 0, 1, 2, 9, 11, 10)]
    (tmp_path / "features.csv").write_text("id,odd,size\n" + "".join(lines))
    return tmp_path / "features.csv"


@pytest.mark.filterwarnings("always:.*rows are left out")
def test_train_attaches_features_and_says_how_many_are_known(tmp_path: Path, features: Path, monkeypatch):
    seen = []
    fit = METHODS["label-propagation"].fit

    def recorded(self, graph, *rest, **options):
        seen.append(graph)
        return fit(self, graph, *rest, **options)

    monkeypatch.setattr(METHODS["label-propagation"], "fit", recorded)
    edges, _ = write_ring(tmp_path)
    (tmp_path / "labels.csv").write_text("v0,x\nv5,y\n")
    words = ["train", edges, "--method", "label-propagation", "--labels", tmp_path / "labels.csv"]
    done = pine(*words, "--features", features, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "features: 2 columns, known for 8 nodes and unknown for 4\n" in done.stdout
    (graph,) = seen
    ids = graph.ids().tolist()
    assert graph.features["node"][ids.index("v9")].tolist() == pytest.approx([1, 0.9])
    assert not graph.feature_mask["node"][ids.index("v4")]
    (tmp_path / "features.csv").write_text("id,odd\nv0,1\nnobody,2\n")
    done = pine(*words, "--features", features, "--out", tmp_path / "run", "--overwrite")
    assert "warning: " in done.stderr
    assert "1 of 2 rows are left out" in done.stderr


def test_features_of_a_typed_graph_name_their_type(tmp_path: Path):
    (tmp_path / "w.csv").write_text("ann,1\nbob,1\neve,2\n")
    (tmp_path / "l.csv").write_text("ann,x\neve,z\n")
    (tmp_path / "a.csv").write_text("id,age\nann,3\nbob,4\n")
    (tmp_path / "p.csv").write_text("id,length\n1,3\n2,4\n")
    words = ["train", "--relation", "author:writes:paper=w.csv", "--labels", "l.csv", "--label-type", "author"]
    words += ["--method", "label-propagation", "--out", "run"]
    done = pine(*words, "--features", "author=a.csv", "--features", "paper=p.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "features of type author: 1 columns, known for 2 nodes and unknown for 1\n" in done.stdout
    assert "features of type paper: 1 columns, known for 2 nodes and unknown for 0\n" in done.stdout
    for given, message in (
        (["a.csv"], "features of a typed graph are given as TYPE=FILE, with a type of author, paper, got 'a.csv'"),
        (["venue=a.csv"], "with a type of author, paper"),
        (["author=a.csv", "author=p.csv"], "features of type 'author' are given twice: a.csv and p.csv"),
        (["author=no.csv"], "cannot read no.csv"),
    ):
        done = pine(*words, "--overwrite", *(word for each in given for word in ("--features", each)), cwd=tmp_path)
        assert message in refused(done)


def test_what_is_larger_than_memory_is_trained_in_files_of_a_folder(tmp_path: Path):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 60, (2, 200))
    pq.write_table(pa.table({"source": source, "target": target}), tmp_path / "edges.parquet")
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"{node},{node % 3}\n" for node in range(40)))
    command = ["train", tmp_path / "edges.parquet", "--labels", tmp_path / "labels.csv", "--epochs", "3"]
    done = pine(*command, "--out", tmp_path / "run", "--mmap-dir", tmp_path / "arrays")
    assert done.returncode == 0, done.stderr
    assert f"of disk in {tmp_path / 'arrays'}" in done.stdout.replace("\n", " ")
    assert list((tmp_path / "arrays").iterdir()) == []
    assert pine(*command, "--out", tmp_path / "other").returncode == 0
    np.testing.assert_allclose(
        PINE.load(tmp_path / "run").embedding_, PINE.load(tmp_path / "other").embedding_, atol=0.01
    )


def test_only_one_parquet_file_of_edges_is_trained_in_files(tmp_path: Path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    files = ["--out", tmp_path / "run", "--mmap-dir", tmp_path / "arrays"]
    assert "must be the path of a Parquet file" in refused(pine("train", tmp_path / "edges.csv", *files))
    relation = f"a:to:b={tmp_path / 'edges.csv'}"
    assert "mmap_dir is for one file of edges" in refused(pine("train", "--relation", relation, *files))
