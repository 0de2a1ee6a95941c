"""`pine explore`."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from support.command_line import pine, refused, write_ring

from pine.io.run_folder import KEPT_MAP


@pytest.fixture(scope="module")
def ring(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ring")
    edges, _ = write_ring(folder)
    (folder / "labels.csv").write_text("id,label\n" + "".join(f"v{i},{'ab'[i // 6]}\n" for i in range(12)))
    (folder / "half.csv").write_text("id,label\n" + "".join(f"v{i},{'ab'[i // 6]}\n" for i in range(0, 12, 2)))
    done = pine("train", edges, "--labels", folder / "half.csv", "--quick", "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    assert f"  pine explore {folder / 'run'}\n" in done.stdout
    return folder


def test_one_file_is_written_and_the_map_is_made_once(ring: Path):
    command = (
        "explore",
        ring / "run",
        ring / "edges.csv",
        "--labels",
        ring / "labels.csv",
        "--html",
        ring / "run.html",
    )
    first, second = pine(*command), pine(*command)
    assert first.returncode == 0, first.stderr
    assert "a map of 12 nodes by t-SNE" in first.stdout
    assert "a map of" not in second.stdout
    assert f"the page is in {ring / 'run.html'}" in second.stdout
    assert (ring / "run" / KEPT_MAP).is_file()
    assert (ring / "run.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_damaged_map_and_another_layout_are_made_anew(ring: Path):
    command = ("explore", ring / "run", "--html", ring / "other.html")
    pine(*command)
    (ring / "run" / KEPT_MAP).write_bytes(b"nonsense")
    assert "a map of 12 nodes by t-SNE" in pine(*command).stdout
    assert "a map of 12 nodes by principal axes" in pine(*command, "--map", "pca").stdout
    assert "a map of" not in pine(*command).stdout, "the one that was asked for stays"
    assert "a map of 12 nodes by t-SNE" in pine(*command, "--map", "tsne").stdout


def test_the_edges_are_those_of_training_while_they_are_as_they_were(ring: Path, tmp_path: Path):
    command = ("explore", ring / "run", "--html", tmp_path / "x.html")
    assert "graph: 12 nodes" in pine(*command).stdout
    text = (ring / "edges.csv").read_text()
    (ring / "edges.csv").write_text(text + "v0,v6\n")
    try:
        done = pine(*command)
    finally:
        (ring / "edges.csv").write_text(text)
    assert done.returncode == 0, done.stderr
    assert "edges.csv, which has changed since: the page has no neighbors" in done.stdout
    assert "No graph: a run does not hold it" in done.stdout


def test_what_is_wrong_is_said_in_a_sentence(ring: Path, tmp_path: Path):
    assert "not a saved run" in refused(pine("explore", tmp_path))
    assert "--map must be one of 'tsne', 'pca', 'umap', got 'tnse'" in refused(
        pine("explore", ring / "run", "--map", "tnse")
    )
    both = pine("explore", ring / "run", "--html", tmp_path / "x.html", "--port", 80)
    assert "leave --port out" in refused(both)
    (tmp_path / "others.csv").write_text("source,target\nx,y\n")
    assert "no node of the run" in refused(pine("explore", ring / "run", tmp_path / "others.csv"))
    assert refused(pine("explore", ring / "run", "--labels", tmp_path / "others.csv"))
    assert refused(pine("explore", ring / "run", "--html", tmp_path / "no\0name.html"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is in use" in refused(pine("explore", ring / "run", "--port", port))


def test_a_map_that_cannot_be_kept_is_shown_all_the_same(ring: Path, tmp_path: Path):
    kept = ring / "run" / KEPT_MAP
    kept.unlink(missing_ok=True)
    kept.mkdir()  # nothing can be put in its place
    try:
        done = pine("explore", ring / "run", "--html", tmp_path / "x.html")
    finally:
        kept.rmdir()
    assert done.returncode == 0, done.stderr
    assert "made, but it cannot be kept" in done.stdout


def test_the_page_is_served_until_ctrl_c(ring: Path):
    command = [sys.executable, "-m", "pine", "explore", str(ring / "run"), str(ring / "edges.csv"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = (re.search(r"is at (http://127\.0\.0\.1:\d+/) until Ctrl-C", line) for line in process.stdout)
            found = next(filter(None, lines))
            with urlopen(found.group(1)) as answer:
                assert b"<title>pine explore</title>" in answer.read()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said == "interrupted; the page is no longer served\n"
