"""Ranks whose graph lies in files learn what they learn from one in memory, and hold the rows of their nodes alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.torchrun import torchrun

from pine import PINE
from pine.datasets import planted_classes


@pytest.mark.slow
def test_ranks_take_their_rows_out_of_files(tmp_path: Path):
    graph, classes = planted_classes(1000, classes=3)
    links = graph.links()
    pq.write_table(pa.table({"source": links.rows(), "target": links.indices}), tmp_path / "edges.parquet")
    np.savetxt(tmp_path / "labels.csv", np.column_stack([np.arange(300), classes[:300]]), "%d", ",")
    vectors = []
    for more in ([], ["--mmap-dir", "arrays"]):
        out = f"run{len(more)}"
        train = ["-m", "pine", "train", "edges.parquet", "--labels", "labels.csv", "--out", out, "--epochs", 5]
        job = torchrun("--nproc-per-node", 2, *train, "--dim", 8, *more, cwd=tmp_path)
        printed, _ = job.communicate()
        assert job.returncode == 0, printed
        vectors.append(PINE.load(tmp_path / out).embedding_)
    np.testing.assert_array_equal(*vectors)
    assert list((tmp_path / "arrays").iterdir()) == []
