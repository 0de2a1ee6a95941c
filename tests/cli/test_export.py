"""`pine export`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.command_line import pine, refused, write_ring

from pine.methods import load_run


def test_a_run_is_exported_and_what_cannot_be_is_refused(tmp_path: Path):
    edges, _ = write_ring(tmp_path)
    assert pine("train", edges, "--out", tmp_path / "run").returncode == 0
    done = pine("export", tmp_path / "run", "--format", "word2vec", "--out", tmp_path / "v.txt")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "v.txt").read_text().splitlines()
    assert lines[0] == "12 64"
    assert lines[1].split()[0] == "v0"
    assert "unknown format 'pdf'; there are 'word2vec', 'parquet'" in refused(
        pine("export", tmp_path / "run", "--format", "pdf", "--out", "x")
    )
    assert "is not a saved run" in refused(pine("export", tmp_path / "nothing", "--out", "x.npy"))


def test_the_ending_says_the_format_and_npy_has_its_ids_beside_it(tmp_path: Path):
    edges, _ = write_ring(tmp_path)
    assert pine("train", edges, "--method", "propagation", "--dim", 4, "--out", "run", cwd=tmp_path).returncode == 0
    vectors = load_run(tmp_path / "run").embedding_
    done = pine("export", "run", "--out", "v.npy", cwd=tmp_path)
    assert done.stdout == "12 vectors in v.npy and v.ids.txt\n"
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy", allow_pickle=False), vectors)
    assert (tmp_path / "v.ids.txt").read_text().splitlines() == [f"v{i}" for i in range(12)]
    for name, delimiter in (("v.csv", ","), ("v.tsv", "\t")):
        assert pine("export", "run", "--out", name, cwd=tmp_path).returncode == 0
        rows = [line.split(delimiter) for line in (tmp_path / name).read_text().splitlines()]
        assert rows[0] == ["id", "x0", "x1", "x2", "x3"]
        np.testing.assert_allclose([list(map(float, row[1:])) for row in rows[1:]], vectors, rtol=1e-4)
    done = pine("export", "run", "--format", "projector", "--out", "points.tsv", cwd=tmp_path)
    assert done.stdout == "12 vectors in points.tsv and points.metadata.tsv\n"
    assert np.loadtxt(tmp_path / "points.tsv", delimiter="\t").shape == (12, 4)
    assert (tmp_path / "points.metadata.tsv").read_text().splitlines()[0] == "v0"
    for words, message in (
        (["--format", "npy", "--out", "v.csv"], "v.csv ends as csv does, and the format is npy; change one of them"),
        (["--format", "parqet", "--out", "v"], "unknown format 'parqet'; did you mean 'parquet'?"),
        (["--out", "v.xyz"], "v.xyz must end in one of '.parquet'"),
    ):
        assert message in refused(pine("export", "run", *words, cwd=tmp_path))
