"""What is fuzzed: files of edges, nodes, labels and features, data sets, settings and results."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

import pine
from pine import Graph
from pine.cli.settings import method_with
from pine.datasets.arrays import read_npz
from pine.datasets.matlab import read_matrices
from pine.evaluation.results import Result, as_text, read_results
from pine.io.feature_files import read_feature_file
from pine.io.label_files import read_label_table
from pine.io.node_files import read_node_file
from pine.reproduce.rows import read_rows
from pine.reproduce.store import Store
from support.fuzz.damage import damaged, damaged_json

EDGES = {
    "e.csv": b"source,target\n" + b"".join(b"v%d,v%d\n" % (i, (i * 7 + 1) % 40) for i in range(60)),
    "i.csv": b"".join(b"%d,%d\n" % (i, (i * 7 + 1) % 40) for i in range(60)),
    "w.csv": b"source,target,weight\n" + b"".join(b"%d,%d,%f\n" % (i, i + 1, i / 7) for i in range(40)),
    "q.csv": b'"from","to"\n' + b"".join(b'"a, ""%d""",b%d\n' % (i, i % 5) for i in range(30)),
    "e.tsv": b"# made by hand\n" + b"".join(b"v%d\tv%d\n" % (i, i + 1) for i in range(40)),
    "e.txt": b"% comment\n" + b"".join(b"%d  %d\r\n" % (i, i * i) for i in range(40)),
    "s.csv": b"".join(b"a b%d;c d%d\n" % (i, i + 1) for i in range(40)),
}
GRAPH = Graph.from_edges([(f"v{i}", f"v{(i * 7 + 1) % 40}") for i in range(40)])
NUMBERED = Graph.from_edges([(i, (i * 7 + 1) % 40) for i in range(40)])


class Files:
    """Files of a folder, one of which is damaged in a case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = self.made()

    def made(self) -> dict[str, bytes]:
        raise NotImplementedError

    def damaged_file(self, rng: np.random.Generator) -> Path:
        names = sorted(self.files)
        name = names[int(rng.integers(len(names)))]
        path = self.folder / name
        path.write_bytes(damaged(self.files[name], rng))
        return path

    def case(self, rng: np.random.Generator) -> None:
        raise NotImplementedError


def parquet(table: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(table), file, **options)
    return file.getvalue()


def same_graph(graph: Graph, other: Graph) -> None:
    assert graph.ids().tolist() == other.ids().tolist(), "other ids"
    (ours, theirs) = (each.matrix(each.relations[0]) for each in (graph, other))
    assert np.array_equal(ours.indptr, theirs.indptr), "other edges"
    assert np.array_equal(ours.indices, theirs.indices), "other edges"


class TextEdges(Files):
    """Every id stands in the file, and the packed file is the same graph."""

    def made(self) -> dict[str, bytes]:
        return EDGES

    def case(self, rng: np.random.Generator) -> None:
        path = self.damaged_file(rng)
        content = path.read_bytes()
        weights = None if rng.random() < 0.5 else "auto"
        graph = Graph.from_edges(path, weights=weights)
        text = content.decode().replace('"', "")
        ids = [str(node).replace('"', "") for node in graph.ids().tolist()]
        assert all(node in text for node in ids), "an id that the file does not hold"
        packed = path.with_name(f"{path.name}.gz")
        packed.write_bytes(gzip.compress(content, 1))
        same_graph(graph, Graph.from_edges(packed, weights=weights))


class PackedEdges(Files):
    def made(self) -> dict[str, bytes]:
        return {f"{name}.gz": gzip.compress(content) for name, content in EDGES.items()}

    def case(self, rng: np.random.Generator) -> None:
        Graph.from_edges(self.damaged_file(rng), weights=None)


class ParquetEdges(Files):
    def made(self) -> dict[str, bytes]:
        text = [f"v{i}" for i in range(50)]
        return {
            "i.parquet": parquet({"source": list(range(50)), "target": list(range(1, 51)), "weight": [0.5] * 50}),
            "s.parquet": parquet({"u": text, "v": text[::-1]}, compression="none"),
            "d.parquet": parquet({"u": pa.array(text).dictionary_encode(), "v": pa.array(text, pa.large_string())}),
        }

    def case(self, rng: np.random.Generator) -> None:
        Graph.from_edges(self.damaged_file(rng))


class Nodes(Files):
    def made(self) -> dict[str, bytes]:
        return {
            "n.csv": b"id,name\n" + b"".join(b"%d,n%d\n" % (i, i) for i in range(30)),
            "n.txt": b"".join(b"v%d\n" % i for i in range(30)),
            "n.parquet": parquet({"id": list(range(30))}),
        }

    def case(self, rng: np.random.Generator) -> None:
        ids, _ = read_node_file(self.damaged_file(rng))
        graph = Graph.from_edges([], nodes=ids)
        assert graph.num_nodes == len(ids), "nodes are missing"


class LabelFiles(Files):
    """All that is labeled is a node of the graph, and fit takes it."""

    def made(self) -> dict[str, bytes]:
        return {
            "l.csv": b"id,label\n" + b"".join(b"v%d,%c\n" % (i, 97 + i % 3) for i in range(40)),
            "n.csv": b"id,label\n" + b"".join(b"v%d,%f\n" % (i, i / 3) for i in range(40)),
            "s.tsv": b"".join(b"v%d\ta;b%d\n" % (i, i % 3) for i in range(40)),
            "m.txt": b"".join(b"v%d %d\n" % (i % 30, i % 4) for i in range(60)),
            "l.parquet": parquet({"id": [f"v{i}" for i in range(40)], "label": [i % 3 for i in range(40)]}),
            "s.parquet": parquet({"id": [f"v{i}" for i in range(40)], "label": [["a", "b"]] * 40}),
        }

    def case(self, rng: np.random.Generator) -> None:
        separator = ";" if rng.random() < 0.2 else None
        table = read_label_table(self.damaged_file(rng), GRAPH, separator=separator)
        assert set(table.labels) <= set(GRAPH.ids().tolist()), "a label of no node"
        pine.labels.read_labels(GRAPH, table.labels)


class FeatureFiles(Files):
    """Finite numbers, a row a node."""

    def made(self) -> dict[str, bytes]:
        rng = np.random.default_rng(0)
        dense = rng.random((40, 3)).astype(np.float32)
        sparse = sp.csr_array(np.where(dense > 0.5, dense, 0))
        npy, npz, coo = io.BytesIO(), io.BytesIO(), io.BytesIO()
        np.save(npy, dense)
        np.savez(npz, features=dense, ids=np.arange(40))
        sp.save_npz(coo, sparse, compressed=False)
        return {
            "f.csv": b"id,x,y\n" + b"".join(b"%d,%f,%d\n" % (i, i / 3, i % 2) for i in range(40)),
            "f.parquet": parquet({"id": list(range(40)), "x": dense[:, 0], "y": dense[:, 1] > 0.5}),
            "f.npy": npy.getvalue(),
            "f.npz": npz.getvalue(),
            "m.npz": coo.getvalue(),
        }

    def case(self, rng: np.random.Generator) -> None:
        path = self.damaged_file(rng)
        if path.suffix == ".npz" and rng.random() < 0.7:
            path.write_bytes(packed_anew(self.files[path.name], rng))
        values, known = read_feature_file(path, NUMBERED)
        entries = values.data if sp.issparse(values) else values
        assert values.shape[0] == 40, "rows are missing"
        assert np.isfinite(entries).all(), "a feature is not finite"
        assert known is None or known.shape == (40,), "another mask"
        NUMBERED.with_features({"node": values}, None if known is None else {"node": known})


def packed_anew(archive: bytes, rng: np.random.Generator) -> bytes:
    """A zip file one of whose members is damaged, with sums that fit."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(made, "w") as new:
        names = old.namelist()
        chosen = names[int(rng.integers(len(names)))]
        for name in names:
            content = old.read(name)
            new.writestr(name, damaged(content, rng) if name == chosen else content)
    return made.getvalue()


class DataArrays(Files):
    """The npz files of data sets."""

    def made(self) -> dict[str, bytes]:
        file, packed = io.BytesIO(), io.BytesIO()
        arrays: Any = {"edges": np.arange(80).reshape(40, 2), "labels": np.arange(40), "feat_shape": np.array([40, 3])}
        np.savez(file, **arrays)
        np.savez_compressed(packed, **arrays)
        return {"d.npz": file.getvalue(), "p.npz": packed.getvalue()}

    def case(self, rng: np.random.Generator) -> None:
        path = self.damaged_file(rng)
        if rng.random() < 0.7:
            path.write_bytes(packed_anew(self.files[path.name], rng))
        arrays = read_npz([("a data set", path)])
        arrays.edges("edges", 90, 90)
        arrays.classes("labels", 40, 40)


class Matlab(Files):
    def made(self) -> dict[str, bytes]:
        matrix = sp.csc_array(sp.random_array((30, 20), density=0.2, rng=np.random.default_rng(0)))
        made = {}
        for name, packed in (("m.mat", False), ("p.mat", True)):
            file = io.BytesIO()
            scipy.io.savemat(file, {"network": matrix, "group": np.eye(5)}, do_compression=packed)
            made[name] = file.getvalue()
        return made

    def case(self, rng: np.random.Generator) -> None:
        for matrix in read_matrices(self.damaged_file(rng)).values():
            matrix.sum()
            matrix.tocsr()


class ResumeFiles(Files):
    """Runs of finite numbers, as they would be written again."""

    def made(self) -> dict[str, bytes]:
        runs = [Result("cora", "pine:lam=inf", 0.1 * i, i, {"accuracy": 0.5 + i / 100}, 1.5) for i in range(1, 6)]
        runs.append(Result("cora", "gcn", "public", 0, {"micro_f1": 0.5, "macro_f1": 0.25}, 0.25, features=True))
        return {"runs.json": as_text(runs).encode()}

    def case(self, rng: np.random.Generator) -> None:
        path = self.damaged_file(rng)
        if rng.random() < 0.5:
            path.write_text(json.dumps(damaged_json(json.loads(self.files["runs.json"]), rng)))
        found = read_results(path, "cora")
        text = as_text(found)
        assert all(np.isfinite(list(run.scores.values())).all() for run in found), "a score is not finite"
        path.write_text(text)
        assert as_text(read_results(path, "cora")) == text, "written, it is another"


class ResultRows(Files):
    """The rows of experiments."""

    def made(self) -> dict[str, bytes]:
        lines = [f"cora,pine,0.5,{i},{i / 100},1.5" for i in range(20)]
        return {"rows.csv": "\n".join(["dataset,method,ratio,repeat,accuracy,seconds", *lines, ""]).encode()}

    def case(self, rng: np.random.Generator) -> None:
        read_rows(self.damaged_file(rng))


class ResultStore(Files):
    """A result is what was put, or is not there."""

    def made(self) -> dict[str, bytes]:
        self.results = {f"key {i}": {"scores": {"accuracy": i / 100}, "seconds": i} for i in range(200)}
        path = self.folder / "made.sqlite"
        store = Store(path)
        for key, result in self.results.items():
            store.put(key, {"kind": "score"}, result)
        store.close()
        return {"store.sqlite": path.read_bytes()}

    def case(self, rng: np.random.Generator) -> None:
        path = self.damaged_file(rng)
        path.with_name("store.sqlite-journal").unlink(missing_ok=True)
        store = Store(path)
        try:
            for key, result in store.get(self.results).items():
                assert result == self.results[key], "another result"
            store.put("new", {}, {"x": 1})
            assert store.get(["new"]) == {"new": {"x": 1}}, "what was put is not there"
        finally:
            store.close()


class ConfigFiles(Files):
    """Settings that the method takes."""

    def made(self) -> dict[str, bytes]:
        return {"c.toml": b'dim = 16\nepochs = 3\nlam = 0.5\ndevice = "cpu"\n[training]\ndropout = 0.4\n'}

    def case(self, rng: np.random.Generator) -> None:
        method_with("pine", {}, [], self.damaged_file(rng))
