"""What the points of the map are colored by: label, prediction, right or wrong, type, degree.

Each is a number per node, 0 where nothing is known, and a name per number: the legend, which also filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.explore.answers import Answers
from pine.graph import NODE
from pine.graph.csr import CSR
from pine.graph.nodes import Nodes

NUMBER_BINS = 8
MOST_DEGREE_BINS = 12
TITLES = {"label": "Label", "prediction": "Prediction", "right": "Right or wrong", "type": "Type", "degree": "Degree"}


@dataclass(frozen=True, eq=False)
class Coloring:
    """codes (num_nodes,): 0 is unknown, and k stands for names[k - 1].

    scale: "classes", "sets" (the same, and the last name is that of the empty set), "verdict" or "ordered".
    """

    key: str
    scale: str
    names: list[str]
    unknown: str
    codes: NDArray[np.int64]
    note: str = ""


def colorings_of(nodes: Nodes, answers: Answers | None, links: CSR | None) -> list[Coloring]:
    """Those that something is known for; at least one."""
    made: list[Coloring] = []
    if answers is not None:
        if answers.known.any():
            made.append(_of_values("label", answers, answers.known, answers.truth, len(nodes)))
        if answers.scores is not None:
            everywhere = np.ones(answers.count, bool)
            made.append(_of_values("prediction", answers, everywhere, answers.predicted, len(nodes)))
        if answers.scores is not None and answers.known.any():
            made.append(_verdicts(answers, len(nodes)))
    if nodes.types != (NODE,) or not made:
        codes = np.repeat(np.arange(len(nodes.types)) + 1, [len(nodes.of(type)) for type in nodes.types])
        made.append(Coloring("type", "classes", list(nodes.types), "", codes))
    if links is not None:
        made.append(_degrees(links.degrees()))
    return made


def _of_values(key: str, answers: Answers, known: NDArray[np.bool_], values: NDArray[Any], size: int) -> Coloring:
    unknown = f"no {key}"
    if answers.task == "classes":
        codes = np.where(known, values + 1, 0)
        return Coloring(key, "classes", answers.classes, unknown, _over_all(codes, answers, size))
    if answers.task == "numbers":
        edges = _edges(answers)
        codes = np.where(known, np.searchsorted(edges[1:-1], values, side="right") + 1, 0)
        return Coloring(key, "ordered", _ranges(edges), unknown, _over_all(codes, answers, size))
    # Of the labels of a set, the one that is rarest tells most; all of them stand in the node's own card.
    common = values[known].sum(axis=0)
    rarest = np.where(values, common, np.iinfo(np.int64).max).argmin(axis=1)
    empty = ~values.any(axis=1)
    codes = np.where(known, np.where(empty, len(answers.classes), rarest) + 1, 0)
    names = [*answers.classes, "empty set"]
    note = "Of several labels, the rarest gives the color."
    return Coloring(key, "sets", names, unknown, _over_all(codes, answers, size), note)


def _verdicts(answers: Answers, size: int) -> Coloring:
    known, truth, predicted = answers.known, answers.truth, answers.predicted
    if answers.task == "numbers":
        errors = np.abs(predicted - truth)
        edges = _distinct_quantiles(errors[known])
        codes = np.where(known, np.searchsorted(edges[1:-1], errors, side="right") + 1, 0)
        names = [f"off by {each}" for each in _ranges(edges)]
        return Coloring("right", "ordered", names, "no label", _over_all(codes, answers, size))
    if answers.task == "classes":
        codes, names = np.where(predicted == truth, 1, 2), ["right", "wrong"]
    else:
        same, some = (predicted == truth).all(axis=1), (predicted & truth).any(axis=1)
        codes, names = np.where(same, 1, np.where(some, 3, 2)), ["right", "wrong", "right in part"]
    return Coloring("right", "verdict", names, "no label", _over_all(np.where(known, codes, 0), answers, size))


def _degrees(degrees: NDArray[np.int64]) -> Coloring:
    """0, 1, 2, 3-4, 5-8, ...: as many as there are, and the last without an end."""
    codes = np.where(degrees < 2, degrees, 1 + np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64))
    last = min(int(codes.max(initial=0)), MOST_DEGREE_BINS - 1)
    names = ["0", "1", "2"] + [f"{2 ** (k - 2) + 1:,} to {2 ** (k - 1):,}" for k in range(3, last + 1)]
    if codes.max(initial=0) > last:
        names[last] = f"more than {2 ** (last - 2):,}"
    return Coloring("degree", "ordered", names[: last + 1], "", np.minimum(codes, last) + 1)


def _over_all(codes: NDArray[Any], answers: Answers, size: int) -> NDArray[np.int64]:
    every = np.zeros(size, np.int64)
    every[answers.nodes] = codes
    return every


def _edges(answers: Answers) -> NDArray[np.float64]:
    """The same for labels and predictions, so that their colors compare."""
    predicted = np.empty(0) if answers.scores is None else answers.predicted
    return _distinct_quantiles(answers.truth[answers.known] if answers.known.any() else predicted)


def _distinct_quantiles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, NUMBER_BINS + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0]])


def _ranges(edges: NDArray[np.float64]) -> list[str]:
    ends = [f"{edge:.3g}" for edge in edges]
    return [f"{low} to {high}" for low, high in pairwise(ends)]
