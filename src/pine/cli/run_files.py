"""What `pine train` puts into a run's folder beside the model: predictions, history, a map, and what it was made from.

run.json run.safetensors    the model, as PINE.save writes it; run.json tells of the run under "record"
predictions.parquet         id, type, label, probability
history.csv                 the terms of the loss, epoch by epoch
map.png                     the vectors in two dimensions
README.md                   all of this in words
"""

from __future__ import annotations

import csv
import hashlib
import platform
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pine
from pine._internal.settings import plain_settings
from pine.cli.predict import predictions_of
from pine.cli.scores import HeldOutScores, choice_by_name

if TYPE_CHECKING:
    from pine.embedder import Embedder
    from pine.labels import Labels

PACKAGES = ("numpy", "scipy", "torch", "numba", "pyarrow", "scikit-learn")
MAP_NODES = 5_000  # a map of more nodes shows so many of them


def save_run(out: Path, model: Embedder, record: dict[str, Any]) -> list[str]:
    """The model and all files about it, whole or not at all; the names of the files."""
    with pine.io.run_folder.replaced_folder(out) as folder:
        model.save(folder)
        if model.supervised and model.labels_ is not None:
            pine.io.predictions.write_predictions(folder / "predictions.parquet", predictions_of(model))
        if model.history_:
            _write_history(folder / "history.csv", model.history_)
        _draw_map(folder / "map.png", model, out.name)
        (folder / "README.md").write_text(_readme(folder, out, model, record), encoding="utf-8")
        pine.io.runs.add_record(folder, record)
        return sorted(path.name for path in folder.iterdir())


def run_record(model: Embedder, graph: pine.Graph, files: Mapping[str, Path], scores: HeldOutScores) -> dict[str, Any]:
    """What a run was made from and what came of it, for people and scripts."""
    labels = model.labels_
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["pine", *sys.argv[1:]]),
        "method": model.name,
        "inputs": inputs_record(files),
        "graph": {
            "nodes": {type: graph.count(type) for type in graph.node_types},
            "edges": {":".join(relation): graph.edge_count(relation) for relation in graph.relations},
            "directed": graph.directed,
            "weighted": any(graph.matrix(relation).weights is not None for relation in graph.relations),
        },
        "labels": None if labels is None else {"task": labels.task, "type": labels.type, **_label_counts(labels)},
        "settings": plain_settings(model),
        "choice": choice_by_name(model),
        "scores": scores.record(),
        "versions": versions(),
    }


def _label_counts(labels: Labels) -> dict[str, Any]:
    """How many nodes are known, and how many of each class."""
    if labels.classes is None:
        return {"known": len(labels.known)}
    counts = labels.targets().sum(axis=0).astype(int).tolist()
    return {"known": len(labels.known), "classes": dict(zip(map(str, labels.classes.tolist()), counts, strict=True))}


def inputs_record(files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """The files that a run was made from: what they are, where they were, bytes and SHA-256."""
    made = []
    for what, path in files.items():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        made.append({"what": what, "file": str(path), "bytes": path.stat().st_size, "sha256": digest})
    return made


def versions() -> dict[str, str]:
    """Of Python and of what computes."""
    found = {"pine": pine.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _write_history(path: Path, history: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = list(dict.fromkeys(name for epoch in history for name in epoch))
        writer.writerow(names)
        writer.writerows([epoch.get(name) for name in names] for epoch in history)


def _draw_map(path: Path, model: Embedder, title: str) -> None:
    """By predicted class where there are classes, else by node type."""
    nodes, labels, vectors = model.nodes_, model.labels_, model.fitted_.vectors
    scores = model.fitted_.scores
    if labels is not None and labels.task == "classes" and scores is not None:
        vectors = vectors[nodes.slice(labels.type)]
        assert labels.classes is not None
        groups, names = scores.argmax(axis=1), [str(name) for name in labels.classes]
    else:
        groups = np.concatenate([np.full(len(nodes.of(type)), i) for i, type in enumerate(nodes.types)])
        names = list(nodes.types)
    if len(vectors) < 3 or vectors.shape[1] < 2:
        return
    shown = np.arange(len(vectors))
    if len(shown) > MAP_NODES:
        shown = np.sort(np.random.default_rng(0).choice(len(vectors), MAP_NODES, replace=False))
        title = f"{title}: {MAP_NODES:,} of {len(vectors):,} nodes"
    pine.plots.draw_map(path, pine.plots.principal_plane(vectors[shown]), groups[shown], names, title)


def _readme(folder: Path, out: Path, model: Embedder, record: dict[str, Any]) -> str:
    about = {
        "run.json": "under `record`: what the run was made from, settings, choice, scores; the rest is for loading",
        "run.safetensors": "the vectors and all other numbers, with sums that are checked when it is loaded",
        "predictions.parquet": "id, type, predicted label and its probability, for every node of the labeled type",
        "history.csv": "the terms of the loss, epoch by epoch",
        "map.png": "the vectors in two dimensions (principal components), colored by predicted class or by node type",
    }
    there = {path.name for path in folder.iterdir()}
    lines = [f"# {out.name}", "", f"A run of {model.name}, made by pine {pine.__version__} on {record['date']}.", ""]
    lines += [f"- `{name}`: {text}." for name, text in about.items() if name in there]
    lines += ["", "```python", "import pine", f"model = pine.methods.load_run({str(out)!r})", "model.embedding_", "```"]
    return "\n".join([*lines, "", *(f"    {command}" for command in next_commands(out, model)), ""])


def next_commands(out: Path, model: Embedder) -> list[str]:
    """What to do with a run."""
    node = str(model.nodes_.id_at(0)) if len(model.nodes_) else "NODE"
    made = [
        f"pine explore {shlex.quote(str(out))}",
        f"pine neighbors {shlex.quote(str(out))} {shlex.quote(node)}",
        f"pine export {shlex.quote(str(out))} --out vectors.parquet",
    ]
    if model.supervised and model.labels_ is not None:
        made.insert(0, f"pine predict {shlex.quote(str(out))} --unlabeled --out predictions.csv")
    return made
