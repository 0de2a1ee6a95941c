"""Maps: the vectors of test nodes in two dimensions by t-SNE, with their true and their predicted classes.

clusters  true classes of a map are at least half as pure as could be, counted from chance
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pine.datasets import Dataset
from pine.datasets.catalog import CATALOG
from pine.embedder import Embedder
from pine.evaluation.protocol import Part, Ratio, hide, ratio_name
from pine.evaluation.variants import parse
from pine.labels import Labels
from pine.plots import draw_classes, in_the_plane
from pine.reproduce.claims import Check, Verdict
from pine.reproduce.experiment import Claim, Experiment
from pine.reproduce.figures import FIGURE_FORMATS, Picture
from pine.reproduce.kinds.kind import Kind
from pine.reproduce.kinds.scores import Score
from pine.reproduce.rows import Row
from pine.reproduce.runner import NOT_MADE, Runner, stop_text
from pine.reproduce.tables import markdown_table
from pine.reproduce.tasks import Machine, SingleTask

MAP_COLUMNS = ("dataset", "x", "y", "true", "predicted")
CLUSTERS_RULE = (
    "of the ten nearest nodes in the map, the share that is of a node's class is at least halfway from chance to all"
)
MAP_REVISION = 1  # kept maps go by it: raise it when what t-SNE is given, or its settings, change


@dataclass(frozen=True)
class TSNEMap(SingleTask):
    """Vectors of the test nodes in two dimensions: {"x", "y", "true", "predicted"}, a list each."""

    kind: ClassVar[str] = "map"
    dataset: str
    spec: str
    ratio: Ratio

    @property
    def part(self) -> Part:
        """The split of the data set."""
        return Part(self.ratio, 0)

    def sources(self, machine: Machine) -> dict[str, Any]:
        return {"revision": MAP_REVISION, "score": Score(self.dataset, self.spec, 0, self.part).sources(machine)}

    def result(self, machine: Machine) -> dict[str, Any]:
        data, labels = machine.labeled(self.dataset)
        return map_of(machine.configure(parse(self.spec)).new(0), data, labels, self.part)


def map_of(model: Embedder, data: Dataset, labels: Labels, part: Part) -> dict[str, Any]:
    """Fit a method and lay its vectors out: x, y, true and predicted class of every test node."""
    nodes = part.split(data.name, labels.known, data.splits)
    seen = hide(labels, nodes.train, data.graph.num_nodes)
    predicted = model.fit(data.graph, seen).predict()[nodes.test]
    truth = labels.values[np.searchsorted(labels.known, nodes.test)]
    points = in_the_plane(model.embedding_[nodes.test])
    return {
        "x": np.round(points[:, 0], 2).tolist(),
        "y": np.round(points[:, 1], 2).tolist(),
        "true": truth.tolist(),
        "predicted": np.asarray(predicted, np.int64).tolist(),
    }


def purity(points: NDArray[np.float64], classes: NDArray[np.int64], neighbors: int = 10) -> float:
    """The share of a node's nearest nodes in the map that are of its class, averaged over the nodes."""
    from sklearn.neighbors import NearestNeighbors

    count = min(neighbors, len(points) - 1)
    near = NearestNeighbors(n_neighbors=count).fit(points).kneighbors(return_distance=False)
    return float((classes[near] == classes[:, None]).mean())


def chance_purity(classes: NDArray[np.int64]) -> float:
    """The purity of a map without order."""
    share = np.bincount(classes) / len(classes)
    return float(np.square(share).sum())


def _clusters(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    held, texts = 0, []
    maps = _by_dataset(rows)
    for name, own in maps.items():
        points, truth, _ = _arrays(own)
        pure, chance = purity(points, truth), chance_purity(truth)
        held += pure >= (1 + chance) / 2
        texts.append(f"{name} {100 * pure:.0f} % (by chance {100 * chance:.0f} %)")
    numbers = f"near nodes of one class: {', '.join(texts)}"
    return Verdict(claim, held, len(maps), held == len(maps) > 0, numbers, rule=CLUSTERS_RULE)


class Maps(Kind):
    checks: ClassVar[Mapping[str, Check]] = {"clusters": _clusters}

    def num_tasks(self, experiment: Experiment) -> int:
        return len(experiment.datasets)

    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        tasks = [TSNEMap(name, experiment.methods[0].spec, experiment.ratios[0]) for name in experiment.datasets]
        found = runner.results(tasks, experiment.name)
        columns = MAP_COLUMNS[1:]
        rows: list[Row] = []
        for task in tasks:
            result, about = found[task], {"dataset": task.dataset}
            if "stopped" in result:
                rows.append(about | {"stopped": stop_text(NOT_MADE)})
            else:
                points = zip(*(result[column] for column in columns), strict=True)
                rows += [about | dict(zip(columns, point, strict=True)) for point in points]
        return rows

    def columns(self, experiment: Experiment) -> Sequence[str]:
        return MAP_COLUMNS

    def is_whole(self, experiment: Experiment, rows: Sequence[Row]) -> bool:
        return bool(rows)

    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        head = ["data set", "test nodes", "right", "purity of true classes", "of predicted classes", "by chance"]
        lines = []
        for name, own in _by_dataset(rows).items():
            points, truth, predicted = _arrays(own)
            right = (truth == predicted).mean()
            numbers = [right, purity(points, truth), purity(points, predicted), chance_purity(truth)]
            lines.append([name, f"{len(own):,}", *(f"{100 * number:.1f}" for number in numbers)])
        return [markdown_table(head, lines)]

    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """A figure for each data set."""
        made = []
        for name, own in _by_dataset(rows).items():
            points, truth, predicted = _arrays(own)
            names = CATALOG[name].label_names
            for form in FIGURE_FORMATS:
                path = folder / f"{experiment.name}-{name}.{form}"
                draw_classes(path, points, truth, predicted, names, _title(name, experiment.ratios[0]))
            text = f"{experiment.title}, {name}: {len(own):,} test nodes in the plane by t-SNE, colored by class, "
            text += f"{(truth != predicted).sum():,} wrong ones outlined."
            made.append(Picture(folder / f"{experiment.name}-{name}.png", text))
        return made


def _title(name: str, ratio: Ratio) -> str:
    unnamed = "" if CATALOG[name].names else "; its source gives classes no names"
    return f"{name}, test nodes in the plane by t-SNE, {ratio_name(ratio)} of the labels known{unnamed}"


def _by_dataset(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {name: [r for r in rows if r["dataset"] == name] for name in dict.fromkeys(r["dataset"] for r in rows)}


def _arrays(rows: Sequence[Row]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Points (n, 2), true and predicted classes (n,) of one map."""
    points = np.array([(row["x"], row["y"]) for row in rows], np.float64)
    return points, np.array([r["true"] for r in rows], np.int64), np.array([r["predicted"] for r in rows], np.int64)
