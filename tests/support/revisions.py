"""What methods compute on small graphs, in a few numbers: recorded with their revisions in tests/revisions.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pine import METHODS, PINE, Graph
from pine.embedder import Embedder
from pine.evaluation.logistic_regression import classify
from pine.evaluation.protocol import SCORING_REVISION
from pine.labels import read_labels
from pine.reproduce.approximation import APPROXIMATION_REVISION, TARGETS, errors
from pine.reproduce.inductive.run import NETWORKS_REVISION, learn
from pine.reproduce.inductive.settings import parse
from support.graphs import graph_for
from support.inductive import labels_of, planted

FILE = Path(__file__).parent.parent / "revisions.json"
TOLERANCE = 1e-3  # of the largest output: other CPUs round differently, another algorithm differs by more
NUM_NODES, NUM_GROUPS, SHOWN = 48, 3, 6  # SHOWN: numbers for each array
FEWER = {
    "epochs": 30,
    "steps": 60,
    "label_steps": 60,
    "walks": 5,
    "dim": 16,
    "layers": 4,
    "device": "cpu",
    "threads": 1,
}
FEWEST = {"wys": {"steps": 5}}  # its steps magnify rounding errors: after 20 of them CPUs differ by 1e-2

Outputs = list[float]


@dataclass(frozen=True)
class Case:
    """Something that is computed, and the revision that is raised when it changes."""

    owner: str
    revision: int
    compute: Callable[[], Outputs]


def cases() -> Iterator[tuple[str, Case]]:
    """Every method, PINE in several ways, and what scores methods."""
    for name, method in METHODS.items():
        yield name, Case(method.__name__, method.revision, partial(_of_name, name))
    for name, compute in PINE_CASES.items():
        yield f"pine, {name}", Case("PINE", PINE.revision, compute)
    yield "logistic regression", Case("SCORING_REVISION", SCORING_REVISION, _logistic_regression)
    for name, spec in NETWORKS.items():
        yield f"inductive, {name}", Case("NETWORKS_REVISION", NETWORKS_REVISION, partial(_network, spec))
    yield "approximation", Case("APPROXIMATION_REVISION", APPROXIMATION_REVISION, _approximation)


def groups() -> np.ndarray:
    return np.arange(NUM_NODES) % NUM_GROUPS


def small_graph(between: float = 0.05) -> Graph:
    """Three groups of sixteen nodes, weighted edges, and the last node isolated; between: the chance of other links."""
    rng = np.random.default_rng(0)
    chance = np.where(groups()[:, None] == groups(), 0.35, between)
    chance[-1] = chance[:, -1] = 0
    edges = np.argwhere(np.triu(rng.random(chance.shape) < chance, 1))
    return Graph.from_edges(edges, nodes=range(NUM_NODES), weights=rng.uniform(0.5, 2, len(edges)))


def typed_graph() -> Graph:
    rng = np.random.default_rng(1)
    writes = [(a, p) for a in range(24) for p in range(24) if rng.random() < (0.4 if a % 3 == p % 3 else 0.05)]
    cites = [(p, q) for p in range(24) for q in range(p) if rng.random() < 0.1]
    return Graph.from_relations(
        {("author", "writes", "paper"): writes, ("paper", "cites", "paper"): cites},
        nodes={"author": range(24), "paper": range(24)},
    )


def of_method(model: Embedder, graph: Graph | None = None, labels: Any = "groups", **settings: Any) -> Outputs:
    """Fit with few epochs, and project vectors, f of neighbors, and predictions."""
    graph = graph_for(type(model), small_graph() if graph is None else graph)
    if isinstance(labels, str):
        labels = np.where(np.arange(NUM_NODES) % 2, groups(), -1)
    known = {name.rpartition("__")[2] for name in model.get_params()}  # those in settings objects too
    model.set_params(**{name: value for name, value in FEWER.items() if name in known} | settings, seed=0)
    model.fit(graph, labels if model.supervised else None)
    outputs = projected(_stacked(model.embedding_))
    if isinstance(model, PINE):
        outputs += projected(_stacked(model.reconstruct()))
    if model.supervised and labels is not None:
        assert model.labels_ is not None
        predicted = model.predict()[:, None] if model.labels_.task == "numbers" else model.predict_proba()
        outputs += projected(predicted)
    return outputs


def _of_name(name: str) -> Outputs:
    settings: dict[str, Any] = FEWEST.get(name, {})
    return of_method(METHODS[name](), **settings)


def _stacked(embedding: Any) -> np.ndarray:
    return np.concatenate(list(embedding.values())) if isinstance(embedding, dict) else embedding


def projected(array: Any) -> Outputs:
    """Products with a few fixed random arrays, of the size of the array's own entries."""
    array = np.asarray(array, np.float64)
    weights = np.random.default_rng(7).standard_normal((SHOWN, *array.shape)) / np.sqrt(array.size)
    return [float(f"{each:.6g}") for each in (weights * array).reshape(SHOWN, -1).sum(axis=1)]


def _clear_labels() -> np.ndarray:
    """Of nodes with links: where groups are apart, every candidate is right, and no rounding decides between them."""
    return np.where((np.arange(NUM_NODES) % 2 == 1) & (np.arange(NUM_NODES) < NUM_NODES - 1), groups(), -1)


def _label_sets() -> np.ndarray:
    sets = np.column_stack([groups() == 0, groups() != 2, np.arange(NUM_NODES) % 5 == 0]).astype(int)
    sets[::2] = -1
    return sets


def _numbers() -> np.ndarray:
    return np.where(np.arange(NUM_NODES) % 2, groups() + 0.1 * (np.arange(NUM_NODES) % 7), np.nan)


PINE_CASES: dict[str, Callable[[], Outputs]] = {
    "chosen": lambda: of_method(PINE(), small_graph(between=0.0), _clear_labels(), epochs=None),
    "no labels": lambda: of_method(PINE(), labels=None),
    "typed graph": lambda: of_method(PINE(), typed_graph(), {"author": {node: node % 3 for node in range(16)}}),
    "label sets": lambda: of_method(PINE(), labels=_label_sets(), lam=5.0),
    "numbers": lambda: of_method(PINE(), labels=_numbers(), lam=5.0),
    "batches": lambda: of_method(PINE(), batch_size=20, samples=3, lam=5.0),
    "as printed": lambda: of_method(PINE.paper()),
}
NETWORKS = {
    "sampled": "sampled:aggregator=pine:batch=50:epochs=2",
    "whole": "whole:layer=gat+pine:heads=2:last_heads=2:batch=4:epochs=3",
    "walks": "deepwalk:features=true:walks=4:dim=8:batch=50:epochs=3",
}


def _logistic_regression() -> Outputs:
    rng = np.random.default_rng(2)
    vectors = np.eye(NUM_GROUPS)[groups()] @ rng.standard_normal((NUM_GROUPS, 8)) + rng.standard_normal((NUM_NODES, 8))
    known = np.where(np.arange(NUM_NODES) % 3, groups(), -1)
    found = []
    for labels in (known, _label_sets()):
        read = read_labels(small_graph(), labels)
        found += projected(classify(vectors, read, seed=1))
    return found


def _network(spec: str) -> Outputs:
    setting = parse(f"{spec}:width=8:pool=8:hidden=12:projections=4:scales=2" if "deepwalk" not in spec else spec)
    data, losses = planted(), []
    result = learn(setting, data, labels_of(data), 0, "cpu", 1, lambda _, loss, __: losses.append(loss))
    return [float(f"{each:.6g}") for each in (*losses, result.validation, result.test)]


def _approximation() -> Outputs:
    target = TARGETS["sum of 3 of one type times largest of 4 of another"]
    return [float(f"{each:.6g}") for each in errors(target, 2, num_sets=50, steps=10, seeds=2)]


# ---- what was recorded ----


def recorded() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def is_close(outputs: Outputs, before: Outputs) -> bool:
    """Whether outputs are those that were recorded, but for rounding."""
    if len(outputs) != len(before):
        return False
    scale = max(map(abs, before))
    return all(abs(new - old) <= TOLERANCE * scale for new, old in zip(outputs, before, strict=True))


def updated(before: Mapping[str, Any], measured: Mapping[str, tuple[Case, Outputs]]) -> dict[str, Any]:
    """The record of today; changed outputs under an unchanged revision are refused."""
    record: dict[str, Any] = {}
    for name, (case, outputs) in measured.items():
        old = before.get(name)
        if old is not None and old["revision"] == case.revision:
            if not is_close(outputs, old["outputs"]):
                raise SystemExit(f"{name} computes something else under revision {case.revision}: {advice(case)}")
            record[name] = old
        else:
            record[name] = {"revision": case.revision, "outputs": outputs}
    return record


def advice(case: Case) -> str:
    """What to do about outputs that changed."""
    which = case.owner if case.owner.isupper() else f"revision of {case.owner}"
    return (
        f"if its results are meant to change, raise {which} and record anew with `python scripts/record_revisions.py`; "
        "if not, the change is a mistake"
    )
