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
