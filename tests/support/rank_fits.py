"""Fits that one process and several ranks are asked for alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pine import PINE, Graph
from pine.datasets import load, planted_classes
from pine.model.init import start
from pine.model.settings import FunctionSettings


def fits(exact_nodes: int) -> list[dict[str, Any]]:
    """What comes of fits on small graphs; exact_nodes: up to so many, the start is NetMF."""
    start.EXACT_NODES = exact_nodes
    graph, classes = planted_classes(240, classes=3)
    half = {node: int(label) for node, label in enumerate(classes) if node % 2}
    typed = typed_graph()
    known = {"a": {k: [k % 2, k % 3 == 0] for k in range(0, 80, 2)}}
    return [
        _fitted(_small(epochs=20), graph, half),
        _fitted(_small(epochs=20, label_share=0.35, lam=(5.0, 20.0)), typed, known, "label-sets"),
        _fitted(_small(epochs=0), graph, {k: float(k % 7) + v for k, v in half.items()}, "numbers"),
        _fitted(_small(), graph, None),
    ]


def fifty_epochs(name: str) -> dict[str, Any]:
    """What comes of fifty epochs on a data set, by half of its labels, without its features."""
    data = load(name)
    ((type, values),) = data.labels.items() if isinstance(data.labels, dict) else [("node", data.labels)]
    labels = np.asarray(values).astype(int)
    labels[np.random.default_rng(0).random(len(labels)) < 0.5] = -1
    given = {type: labels} if isinstance(data.labels, dict) else labels
    return _fitted(PINE(epochs=50, label_share=0.0, features=False, threads=1), data.graph, given)


def _small(**changes: Any) -> PINE:
    function = FunctionSettings(hidden=16, projections=8, scales=4)
    return PINE(dim=8, threads=1, function=function).set_params(**changes)


def typed_graph() -> Graph:
    """Two types, of which one is rare, directed and with weights; the last nodes have no neighbors."""
    rng = np.random.default_rng(4)
    writes = np.column_stack([rng.integers(0, 76, 200), rng.integers(0, 12, 200)])
    cites = rng.integers(0, 76, (150, 2))
    return Graph.from_relations(
        {("a", "writes", "b"): writes, ("a", "cites", "a"): cites},
        nodes={"a": range(80), "b": range(13)},
        weights={("a", "writes", "b"): rng.uniform(0.5, 2, 200).astype(np.float32)},
        directed=True,
    )


def _fitted(model: PINE, graph: Graph, labels: Any, task: str = "auto") -> dict[str, Any]:
    model.fit(graph, labels, task)
    learned = model.learned_
    made = {"x": learned.x, "f": learned.f, "w": learned.w, "b": learned.b, **learned.parameters}
    made |= {"vectors": model.fitted_.vectors, "history": np.array([list(row.values())[2:] for row in model.history_])}
    if model.fitted_.scores is not None:
        made["scores"] = model.fitted_.scores
    if learned.start is not None:
        made["start"] = learned.start
    return made | {"choice": learned.choice.by_name()}


STOP = 7  # epochs


class Stopped(Exception):
    pass


def interrupted(place: Path | None, epochs: int | None) -> Any:
    """The vectors of a fit whose state is kept in a place; nothing where it is stopped after some epochs."""
    graph, classes = planted_classes(240, classes=3)

    def stop(done: int, *_: Any) -> None:
        if done == epochs:
            raise Stopped

    model = _small(epochs=20, label_share=0.0)
    try:
        model.fit(graph, {k: int(classes[k]) for k in range(0, 240, 2)}, checkpoint=place, progress=stop)
    except Stopped:
        return None
    return model.fitted_.vectors
