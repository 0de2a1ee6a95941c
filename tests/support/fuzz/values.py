"""What is fuzzed: values that users hand over in Python, and words on the command line."""

from __future__ import annotations

import datetime
import decimal
import fractions
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

import pine
from pine import PINE, Graph, InputError
from pine.errors import LONGEST_MESSAGE
from pine.evaluation.variants import parse
from pine.labels import read_labels
from support.command_line import pine as run_pine

ATOMS: tuple[Any, ...] = (
    0, 1, 2, -1, 7, True, False, None, 0.0, -0.0, 0.5, 1.0, 1e300, -1e300, float("nan"), float("inf"), 10**25, 10**5000,
    -(2**63), 2**63 - 1, 2**64, "", "a", "b", "<NA>", "nan", "0", "007", "\udcff", "\x1b[31m", "x" * 5000, b"a",
    b"\xff", (1, 2), ("a", 1), (), frozenset({1}), {1}, {"a", "b"}, set(), [1], [], {}, {"a": 1}, 1j, object(),
    np.int64(3),
    np.float32(0.5), np.bool_(True), np.str_("a"), np.datetime64("2020-01-01"), pd.NA, pd.NaT, np.ma.masked,
    datetime.date(2020, 1, 1), decimal.Decimal("0.5"), fractions.Fraction(1, 3), Path("a"), range(3), np.zeros((2, 2)),
)  # fmt: skip
DTYPES = ("i1", "u1", "i8", "u8", "f4", "f8", "f2", "c8", "?", "U3", "S3", "M8[D]", "m8[s]", "O", "V4")
SMALL = Graph.from_edges([(i, (i + 1) % 6) for i in range(6)])
TYPED = Graph.from_relations({("a", "to", "b"): [(f"x{i}", i) for i in range(6)]})


def choose(values: Any, rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]


def atoms(count: int, rng: np.random.Generator) -> list[Any]:
    """Values of a few kinds, as one list has them."""
    kinds = [choose(ATOMS, rng) for _ in range(int(rng.integers(1, 4)))]
    return [choose(kinds, rng) for _ in range(count)]


def column(count: int, rng: np.random.Generator) -> Any:
    """Values in one of the containers that users have."""
    values = atoms(count, rng)
    kind = int(rng.integers(10))
    try:
        if kind == 0:
            return tuple(values)
        if kind == 1:
            return np.array(rng.integers(-2, 4, count)).astype(choose(DTYPES, rng))
        if kind == 2:
            return pd.Series(values, dtype=object)
        if kind == 3:
            return pd.Series(values).convert_dtypes()
        if kind == 4:
            return pl.Series(values, strict=False)
        if kind == 5:
            return pa.array(values)
        if kind == 6:
            return np.ma.array(rng.integers(-1, 3, count), mask=rng.random(count) < 0.3)
        if kind == 7:
            return pd.Categorical(values)
        if kind == 8:
            array = np.empty(count, object)
            array[:] = values
            return array
    except Exception:  # the container does not take them
        return values
    return values


class LabelForms:
    """Labels of nodes that exist, each of a class that exists; a run of them is saved and loads equal."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "run"

    def case(self, rng: np.random.Generator) -> None:
        task = choose(("auto", "auto", "classes", "label-sets", "numbers", "x" * 999), rng)
        kind = int(rng.integers(5))
        given: Any = column(choose((6, 6, 6, 5, 0), rng), rng)
        if kind == 0:
            given = dict(zip(choose(([0, 1, 2], [5, 99], ["0", 1, 2]), rng), atoms(3, rng), strict=False))
        elif kind == 1:
            given = rng.integers(-1, 3, (6, choose((0, 1, 3), rng))).astype(choose(DTYPES[:9], rng))
        elif kind == 2:
            given = choose(ATOMS, rng)
        graph = SMALL
        if rng.random() < 0.2:
            graph, given = TYPED, choose(({"a": given}, {"a": {"x0": choose(ATOMS, rng)}}, {"c": given}, given), rng)
        labels = read_labels(graph, given, task)
        assert len(labels.known) == len(labels.values) > 0, "labels of no nodes"
        assert (np.diff(labels.known) > 0).all(), "a node has two labels"
        if labels.task == "numbers":
            assert np.isfinite(labels.values).all(), "a number is not finite"
        else:
            assert labels.values.min() >= 0, "a class that does not exist"
            assert labels.classes is not None
            width = labels.values.shape[1] if labels.values.ndim == 2 else labels.values.max() + 1
            assert width <= len(labels.classes), "a class that does not exist"
        if rng.random() < 0.1:
            method = pine.METHODS["label-propagation"]().fit(graph, given, task)
            method.save(self.place)
            again = pine.methods.load_run(self.place)
            assert list(again.predict()) == list(method.predict()), "other predictions"


class EdgeForms:
    """Edges of all forms: every end is a node, and neighbors are mutual."""

    def __init__(self, folder: Path) -> None:
        pass

    def case(self, rng: np.random.Generator) -> None:
        count = int(rng.integers(0, 6))
        edges: Any = choose(ATOMS, rng)
        kind = int(rng.integers(8))
        first, second = column(count, rng), column(choose((count, count, count + 1), rng), rng)
        options: dict[str, Any] = {}
        if kind == 0:
            edges = list(zip(first, second, strict=False))
        elif kind == 1:
            edges = rng.integers(-3, 5, (count, choose((2, 2, 3), rng))).astype(choose(DTYPES, rng))
        elif kind in (2, 3, 4):
            data = {"source": list(first), "target": list(second)}
            maker = (pd.DataFrame, pl.DataFrame, pa.table)[kind - 2]
            try:
                edges = maker(data)
            except Exception:  # the frame does not take them
                edges = list(zip(first, second, strict=False))
        elif kind == 5:
            edges = {("a", choose(("to", "\udcff", 1, None), rng), "b"): list(zip(first, second, strict=False))}
        elif kind == 6:
            matrix = sp.random_array((4, choose((4, 5), rng)), density=0.4, rng=rng, format=choose(("csr", "coo"), rng))
            Graph.from_scipy(matrix * choose((1, -1, np.nan, 1e300), rng))
            return
        elif kind == 7:
            made = nx.Graph()
            for one, other in zip(first, second, strict=False):
                try:
                    made.add_edge(one, other, weight=choose(ATOMS, rng))
                except (TypeError, ValueError):  # no node of NetworkX either
                    continue
            Graph.from_networkx(made)
            return
        if rng.random() < 0.3:
            options["weights"] = choose((column(count, rng), choose(ATOMS, rng)), rng)
        if rng.random() < 0.3:
            options["nodes"] = choose((column(4, rng), choose(ATOMS, rng)), rng)
        graph = Graph.from_relations(edges) if kind == 5 else Graph.from_edges(edges, **options)
        for relation in graph.relations:
            matrix = graph.matrix(relation)
            assert matrix.indices.size == 0 or matrix.indices.max() < graph.count(relation[2]), "an edge to no node"


class Questions:
    """Vectors, predictions and neighbors of whatever is asked for."""

    def __init__(self, folder: Path) -> None:
        label_propagation = pine.METHODS["label-propagation"]
        self.models = [
            PINE(dim=3, epochs=1).fit(SMALL, [0, 1, 0, 1, -1, -1]),
            label_propagation().fit(SMALL, [0.5, 1, 2, 3, 4, 5]),
            label_propagation().fit(TYPED, {"a": {"x0": "p", "x1": "q"}}),
        ]

    def case(self, rng: np.random.Generator) -> None:
        model = choose(self.models, rng)
        ids = choose((column(3, rng), choose(ATOMS, rng), [0, 1], "x0"), rng)
        type = choose((None, None, "a", "b", choose(ATOMS, rng)), rng)
        kind = int(rng.integers(4))
        if kind == 0:
            assert np.isfinite(model.vectors(ids, type)).all(), "a vector is not finite"
        elif kind == 1:
            found = model.most_similar(ids, choose((1, 3, choose(ATOMS, rng)), rng), type, to=choose((None, "b"), rng))
            assert isinstance(found, list), "no list of neighbors"
        elif kind == 2:
            model.predict(ids, type=type, spread=choose((0.0, 0.5, choose(ATOMS, rng)), rng))
        else:
            model.predict_proba(ids, type=type)


class Settings:
    """Settings of every method: taken or refused before anything is computed."""

    def __init__(self, folder: Path) -> None:
        pass

    def case(self, rng: np.random.Generator) -> None:
        name = choose(list(pine.METHODS), rng)
        method = pine.METHODS[name]()
        key = choose([*method.get_params(), "x" * 500], rng)
        if rng.random() < 0.5:
            value = choose(("1", "0", "-1", "inf", "nan", "1e400", "9" * 400, "9" * 5000, "none", "true", "x" * 999, "-", "a-b-a", "\x1b", "\udcff"), rng)  # fmt: skip  # noqa: E501
            parse(
                choose(
                    (f"{name}:{key}={value}", f"{name}:{value}", f"{value}:{key}=1", f"{name}:{key}={value}:" * 3), rng
                )
            )
            return
        method.set_params(**{key: choose(ATOMS, rng)})
        pine._internal.settings.check_settings(type(method), pine._internal.settings.own_settings(method))
        repr(method)


WORDS = (
    "", "-", "--", "x", "x" * 3000, ".", "/", "..", "/dev/null", "/proc/self/mem", "²", "-1", "0", "1", "1e400", "nan",
    "9" * 30, "9" * 5000, "[bold]", ":smile:", "\x1b[31m", "\udcff", "\n", "a=b", "a:b:c=d", "a:b:c=e.csv",
    "node=e.csv", "e.csv", "l.csv", "run", "f.npy", "auto", "cpu", "cuda", "cuda:99", "meta", "none", "source",
    "target",
    "id", "label",
    "pine", "gcn", "label-propagation", "0.5", "classes", "numbers", "word2vec", "out.csv", "out.parquet", "out/x.csv",
)  # fmt: skip
OPTIONS = {
    "train": ("--labels", "--out", "--method", "--dim", "--epochs", "--device", "--threads", "--seed", "--set",
              "--config", "--relation", "--nodes", "--features", "--source", "--target", "--weight", "--id-column",
              "--label-column", "--label-type", "--task", "--separator", "--start-from", "--no-such"),
    "predict": ("--out", "--relation", "--nodes", "--features", "--source", "--weight", "--separator"),
    "embed": ("--out", "--relation", "--nodes", "--source", "--weight"),
    "neighbors": ("-k", "--type", "--to"),
    "export": ("--out", "--format"),
    "evaluate": ("--labels", "--methods", "--ratios", "--repeats", "--json", "--data-dir", "--split", "--task"),
    "reproduce": ("--out", "--list"),
    "datasets": ("--data-dir",),
}  # fmt: skip
GIVEN = {
    "train": ["e.csv", "--quick"], "predict": ["run"], "embed": ["run", "e.csv"], "neighbors": ["run", "v1"],
    "export": ["run"], "evaluate": ["no-such-data"], "reproduce": ["no-such-experiment"], "datasets": [],
}  # fmt: skip


class CommandLine:
    """Exit code 0, or 2 with one sentence on standard error, for people and with nothing half-written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        edges = "".join(f"v{i},v{(i + 1) % 12}\n" for i in range(12))
        (folder / "e.csv").write_text("source,target\n" + edges)
        (folder / "l.csv").write_text("id,label\n" + "".join(f"v{i},{'ab'[i % 2]}\n" for i in range(12)))
        np.save(folder / "f.npy", np.eye(12, dtype=np.float32))
        pine.METHODS["label-propagation"]().fit(Graph.from_edges(folder / "e.csv"), {"v0": "a", "v1": "b"}).save(
            folder / "run"
        )
        self.own = {path.name for path in folder.iterdir()}

    def case(self, rng: np.random.Generator) -> None:
        command = choose(list(OPTIONS), rng)
        words = [choose(WORDS, rng) if rng.random() < 0.2 else word for word in GIVEN[command]]
        if command == "train":
            words += ["--out", "new", "--overwrite", "--dim", "2"]
        for _ in range(int(rng.integers(0, 3))):
            words += [choose(OPTIONS[command], rng), choose(WORDS, rng)]
        done = run_pine(command, *words, cwd=self.folder)
        said = done.stderr.splitlines()
        assert done.returncode in (0, 2), f"exit code {done.returncode}: {words}"
        assert "Traceback" not in done.stderr, "a traceback"
        assert not any(path.name.endswith((".part", ".saving")) for path in self.folder.iterdir()), "half-written"
        assert self.own <= {path.name for path in self.folder.iterdir()}, "a file of the user is gone"
        if done.returncode == 2:
            errors = [line for line in said if line.startswith("error: ")]
            assert len(errors) == 1, f"not one sentence: {said} {words}"
            assert len(errors[0]) <= LONGEST_MESSAGE + len("error: "), "a long error"
            assert errors[0].isprintable(), "an error that cannot be printed"
            raise InputError(errors[0][:LONGEST_MESSAGE])
