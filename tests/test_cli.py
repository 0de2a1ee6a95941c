"""The command line as a person meets it: real processes, exit codes, no tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import pine
from pine.methods import load_run

PINE = [sys.executable, "-m", "pine"]


def run(*arguments, cwd=None, **variables):
    environment = {key: value for key, value in os.environ.items() if key != "PINE_DATA"} | variables
    command = [*PINE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)


def refused(done) -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_the_demo_prints_an_accuracy_and_draws_a_picture(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "label-propagation: accuracy 0.8" in done.stdout
    assert "pine: accuracy 0.8" in done.stdout
    picture = (tmp_path / "demo" / "cora.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 50_000
    assert os.listdir(tmp_path / "demo") == ["cora.png"]


def test_evaluate_prints_a_table_and_writes_every_run_as_json(tmp_path):
    what = ["--methods", "label-propagation", "--ratios", "0.1,0.5", "--repeats", 2, "--json", tmp_path / "runs.json"]
    done = run("evaluate", "cora", *what)
    assert done.returncode == 0, done.stderr
    assert "label-propagation" in done.stdout
    runs = json.loads((tmp_path / "runs.json").read_text())
    assert len(runs) == 4
    assert set(runs[0]) == {"dataset", "method", "ratio", "repeat", "accuracy", "macro_f1", "seconds"}


def test_json_on_standard_output_is_alone_there():
    done = run("evaluate", "cora", "--methods", "label-propagation", "--ratios", "0.5", "--repeats", 1, "--json", "-")
    assert len(json.loads(done.stdout)) == 1
    assert "label-propagation" in done.stderr


def test_datasets_lists_all_of_them_and_how_to_get_those_that_are_not_here(tmp_path):
    done = run("datasets", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    for name in pine.datasets.CATALOG:
        assert name in done.stdout
    assert "To get it" in done.stdout


def test_train_saves_a_run_from_the_users_own_files(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\nd,e\n")
    (tmp_path / "labels.csv").write_text("id,label\na,red\nd,blue\n")
    done = run("train", tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert set(load_run(tmp_path / "run").predict(["b", "e"])) <= {"red", "blue"}
    assert load_run(tmp_path / "run").name == "pine"


def test_a_trained_run_is_asked_exported_and_used_on_a_grown_graph(tmp_path):
    ring = "".join(f"v{i},v{(i + 1) % 12}\nv{i},v{(i + 2) % 12}\n" for i in range(12))
    (tmp_path / "edges.csv").write_text("source,target\n" + ring)
    (tmp_path / "grown.csv").write_text("source,target\n" + ring + "new,v0\nnew,v1\n")
    assert run("train", tmp_path / "edges.csv", "--out", tmp_path / "run").returncode == 0
    near = run("neighbors", tmp_path / "run", "v3", "-k", 4)
    assert len(near.stdout.splitlines()) == 4
    assert "no node 'v99'" in refused(run("neighbors", tmp_path / "run", "v99"))
    assert run("export", tmp_path / "run", "--format", "word2vec", "--out", tmp_path / "v.txt").returncode == 0
    lines = (tmp_path / "v.txt").read_text().splitlines()
    assert lines[0] == "12 64"
    assert lines[1].split()[0] == "v0"
    for name in ("grown.parquet", "grown.npy"):
        assert run("embed", tmp_path / "run", tmp_path / "grown.csv", "--out", tmp_path / name).returncode == 0
    table = pq.read_table(tmp_path / "grown.parquet")
    vectors = np.load(tmp_path / "grown.npy", allow_pickle=False)
    assert vectors.shape == (13, 64)
    place = table["id"].to_pylist().index("v5")
    trained = load_run(tmp_path / "run").vectors(["v5"])[0]
    np.testing.assert_array_equal(np.array(table["vector"][place].as_py(), np.float32), trained)
    np.testing.assert_array_equal(vectors[place], trained)
    assert "must end in one of" in refused(run("embed", tmp_path / "run", tmp_path / "grown.csv", "--out", "x.doc"))
    assert "format must be one of" in refused(run("export", tmp_path / "run", "--format", "pdf", "--out", "x"))
    assert "is not a saved run" in refused(run("export", tmp_path / "nothing", "--out", "x"))


def test_train_starts_from_an_earlier_run_and_says_where_it_cannot(tmp_path):
    ring = "".join(f"v{i},v{(i + 1) % 12}\nv{i},v{(i + 2) % 12}\n" for i in range(12))
    (tmp_path / "edges.csv").write_text("source,target\n" + ring)
    (tmp_path / "grown.csv").write_text("source,target\n" + ring + "new,v0\nnew,v1\n")
    assert run("train", tmp_path / "edges.csv", "--out", tmp_path / "run").returncode == 0
    again = ["train", tmp_path / "grown.csv", "--out", tmp_path / "again", "--start-from"]
    done = run(*again, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    first, second = load_run(tmp_path / "run"), load_run(tmp_path / "again")
    assert 3 * len(second.learned_.history) == len(first.learned_.history)
    assert "new" in second.nodes_.of("node").to_list()
    assert "is not a saved run" in refused(run(*again, tmp_path / "nothing"))
    assert "cannot start from an earlier run" in refused(run(*again, tmp_path / "run", "--method", "start"))


def test_train_takes_typed_graphs_and_label_sets(tmp_path):
    (tmp_path / "w.tsv").write_text("ann\t1\nbob\t1\neve\t2\n")
    (tmp_path / "c.txt").write_text("1 3\n2 4\n")
    (tmp_path / "l.csv").write_text("ann,x\nann,y\neve,z\n")
    done = run(
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
        ("a,b\nc,d,e\n", "a,x\n", "edges.csv, line 2: expected 2 fields"),
        ("u,v,weight\na,b,-1\n", "a,x\n", "edges.csv, line 2: the weight is negative"),
        ("", "a,x\n", "edges.csv is empty"),
        ("a,b\n", "a,x\nz,y\n", "labels.csv, line 2: there is no node 'z'"),
        ("a,b\n", "a,x\nb,\n", "labels.csv, line 2: the label is empty"),
        ("a,b\n", "", "labels.csv is empty"),
        ("a,b\n", "a\n", "labels.csv, line 1: expected at least two columns"),
    ],
)
def test_bad_files_are_refused_with_exit_code_2_and_one_sentence(tmp_path, edges, labels, message):
    (tmp_path / "edges.csv").write_text(edges)
    (tmp_path / "labels.csv").write_text(labels)
    done = run("train", tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "run")
    assert message in refused(done)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "coar"], "unknown dataset 'coar'; did you mean 'cora'?"),
        (["evaluate", "cora", "--methods", "magic"], "unknown method 'magic'; there are"),
        (["evaluate", "cora", "--ratios", "0.5,2"], "ratios must be numbers between 0 and 1"),
        (["evaluate", "citeseer", "--data-dir", "."], "To get it: "),
        (["train", "no.csv", "--out", "run"], "cannot read no.csv"),
        (["train", "--out", "run"], "give either one file of edges, or relations"),
        (["train", "--relation", "a:b=c", "--out", "run"], "a relation is given as SRC:REL:DST=FILE"),
    ],
)
def test_wrong_arguments_are_refused_with_exit_code_2_and_one_sentence(tmp_path, arguments, message):
    done = run(*arguments, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path), http_proxy="", https_proxy="", no_proxy="*")
    assert message in refused(done)


def test_a_reader_that_stops_reading_is_no_error():
    done = subprocess.run(f"{sys.executable} -m pine datasets | head -n 2", shell=True, capture_output=True, text=True)
    assert "Traceback" not in done.stderr


def test_help_and_version_are_there():
    assert f"pine {pine.__version__}" in run("--version").stdout
    for command in ("demo", "train", "embed", "neighbors", "export", "evaluate", "datasets"):
        assert command in run("--help").stdout
        assert run(command, "--help").returncode == 0


def test_import_is_quick_and_needs_no_extra(tmp_path):
    code = textwrap.dedent(
        """
        import sys, time
        class NoExtras:
            def find_spec(self, name, *_):
                if name.split(".")[0] in ("pandas", "polars", "networkx", "torch_geometric"):
                    raise ImportError(name)
        sys.meta_path.insert(0, NoExtras())
        start = time.perf_counter()
        import pine
        print(time.perf_counter() - start)
        pine.METHODS["label-propagation"]().fit(pine.Graph.from_edges([("a", "b")]), ["x", "y"])
        """
    )
    seconds = []
    for _ in range(2):  # the first may compile bytecode
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        seconds.append(float(done.stdout))
    assert min(seconds) < 3


def test_the_version_stands_in_one_place():
    root = Path(__file__).parents[1]
    assert (
        pine.__version__ not in (root / "pyproject.toml").read_text().split("[tool.ruff]")[0].split("dependencies")[0]
    )
