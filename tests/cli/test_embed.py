"""`pine embed`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from support.command_line import pine, refused, write_ring

from pine.methods import load_run


def test_a_grown_graph_gets_vectors_and_known_nodes_keep_theirs(tmp_path: Path):
    edges, grown = write_ring(tmp_path)
    assert pine("train", edges, "--out", tmp_path / "run").returncode == 0
    for name in ("grown.parquet", "grown.npy"):
        assert pine("embed", tmp_path / "run", grown, "--out", tmp_path / name).returncode == 0
    table = pq.read_table(tmp_path / "grown.parquet")
    vectors = np.load(tmp_path / "grown.npy", allow_pickle=False)
    assert vectors.shape == (13, 64)
    position = table["id"].to_pylist().index("v5")
    trained = load_run(tmp_path / "run").vectors(["v5"])[0]
    np.testing.assert_array_equal(np.array(table["vector"][position].as_py(), np.float32), trained)
    np.testing.assert_array_equal(vectors[position], trained)
    assert "must end in one of" in refused(pine("embed", tmp_path / "run", grown, "--out", "x.doc"))


def test_embed_takes_features_and_typed_graphs(tmp_path: Path):
    pairs = "".join(f"a{i},{i % 5}\na{i},{(i + 1) % 5}\n" for i in range(12))
    (tmp_path / "w.csv").write_text(pairs)
    (tmp_path / "grown.csv").write_text(pairs + "new,0\nnew,1\n")
    (tmp_path / "p.csv").write_text("id,length\n" + "".join(f"{i},{i}\n" for i in range(5)))
    words = ["--relation", "author:writes:paper=w.csv", "--features", "paper=p.csv"]
    done = pine("train", *words, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words[1] = "author:writes:paper=grown.csv"
    done = pine("embed", "run", *words, "--out", "grown.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "features of type paper: 1 columns, known for 5 nodes and unknown for 0\n" in done.stdout
    assert np.load(tmp_path / "grown.npy", allow_pickle=False).shape == (18, 64)
    assert "give either one file of edges, or relations" in refused(
        pine("embed", "run", "--out", "x.npy", cwd=tmp_path)
    )
