"""The page as one file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

import numpy as np
import pytest
from support.explore import HOSTILE_IDS, explored_run, labels_of, run_of, taken_apart

import pine.explore.html_file
from pine import Graph
from pine.explore import html_of
from pine.explore.explored import NEAREST
from pine.explore.page_files import SCRIPTS


def data_of(page: str):
    (text,) = re.findall(r'<script id="data" type="application/octet-stream">([A-Za-z0-9+/=]+)</script>', page)
    return taken_apart(gzip.decompress(base64.b64decode(text)))


def hostile():
    model = run_of(HOSTILE_IDS)
    graph = Graph.from_edges([(HOSTILE_IDS[0], other) for other in HOSTILE_IDS[1:]])
    return explored_run(model, graph, labels_of(model, {HOSTILE_IDS[0]: "</script>", HOSTILE_IDS[1]: "<b>"}))


def test_scripts_and_style_are_allowed_by_their_sums_alone():
    page = html_of(hostile())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")
    inside = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(inside) == len(SCRIPTS)
    for text in (*inside, *re.findall(r"<style>(.*?)</style>", page, re.DOTALL)):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy


def test_the_file_names_no_other_host_and_loads_nothing():
    page = html_of(hostile())
    assert " src=" not in page
    assert set(re.findall(r'href="([^"]*)"', page)) == {"data:,"}
    assert "https://" not in page


def test_hostile_ids_are_in_the_data_and_nowhere_else():
    page = html_of(hostile())
    assert "alert" not in page
    assert "onerror" not in page
    about, arrays = data_of(page)
    assert about["ids"] == HOSTILE_IDS
    assert about["answers"]["classes"] == ["</script>", "<b>"]
    assert arrays["points"].shape == (2 * len(HOSTILE_IDS),)


def test_what_is_near_is_inside_and_the_same_run_gives_the_same_file():
    explored = hostile()
    _, arrays = data_of(html_of(explored))
    near = arrays["near.numbers"].reshape(-1, NEAREST)
    assert near[2, :8].tolist() == [number for number, _ in explored.nearest(2)]
    cosines = arrays["near.shares"].reshape(-1, NEAREST)[2, :8] / 65535 * 2 - 1
    np.testing.assert_allclose(cosines, [cosine for _, cosine in explored.nearest(2)], atol=1e-4)
    starts, members = arrays["links.starts"], arrays["links.members"]
    assert members[starts[0] : starts[1]].tolist() == list(range(1, 9))
    assert html_of(explored) == html_of(hostile())


def test_what_would_be_too_large_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pine.explore.html_file, "MOST_WITH_NEAREST", 3)
    monkeypatch.setattr(pine.explore.html_file, "MOST_LINKS", 3)
    about, arrays = data_of(html_of(hostile()))
    assert not {"near.numbers", "links.starts"} & arrays.keys()
    assert about["notes"][-1].startswith("Left out of this file: nearest vectors (above 3 nodes) and neighbors")
