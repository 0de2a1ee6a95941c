"""Tables of nodes that are worth a look: the most confident mistakes, and nodes whose neighbors disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.explore.answers import Answers
from pine.explore.links import disagreement
from pine.graph.csr import CSR

TABLE_ROWS = 100
FEW_NEIGHBORS = 1.0  # as if so many more neighbors agreed: one of one says less than nine of nine


@dataclass(frozen=True)
class Ranking:
    """rows: a node's number among all, then a text for every column after the first."""

    key: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    note: str = ""


def rankings_of(answers: Answers | None, links: CSR | None) -> list[Ranking]:
    """Both tables; one that cannot be made has no rows and says why."""
    return [_mistakes(answers), _disagreeing(answers, links)]


def _mistakes(answers: Answers | None) -> Ranking:
    title = "Confident mistakes"
    if answers is None or answers.scores is None:
        return Ranking("mistakes", title, [], [], "This run predicts nothing: it was trained without labels.")
    numbers = answers.task == "numbers"
    wrong, sure = _wrong(answers)
    candidates = np.flatnonzero(wrong)
    order = candidates[np.argsort(-sure[candidates], kind="stable")][:TABLE_ROWS]
    rows = [
        [
            answers.nodes.start + int(i),
            answers.text(answers.truth[i]),
            answers.text(answers.predicted[i]),
            f"{sure[i]:.3g}" if numbers else f"{sure[i]:.3f}",
        ]
        for i in order
    ]
    columns = ["node", "label", "prediction", "error" if numbers else "sure"]
    trained = int((answers.known & answers.trained).sum())
    return Ranking("mistakes", title, columns, rows, _mistakes_note(answers, len(candidates), trained))


def _mistakes_note(answers: Answers, count: int, trained: int) -> str:
    known = int(answers.known.sum())
    if answers.task == "numbers":
        said = f"The largest errors of {known:,} known numbers."
    else:
        said = f"{count:,} of {known:,} nodes with a label are predicted wrongly."
    if trained == known:
        return f"{said} All of these labels were trained with; --labels FILE adds others."
    return f"{said} {trained:,} of these labels were trained with." if trained else said


def _wrong(answers: Answers) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which nodes are predicted wrongly, and how sure the prediction is, or how far off."""
    assert answers.scores is not None
    if answers.task == "numbers":
        errors = np.abs(answers.predicted - answers.truth)
        return answers.known & (errors > 0), errors
    if answers.task == "classes":
        return answers.known & (answers.predicted != answers.truth), answers.scores.max(axis=1).astype(np.float64)
    # Of a set, the surest of its wrong labels: too much at p, or missing at 1 - p.
    p = np.zeros(answers.truth.shape)
    p[:, : answers.scores.shape[1]] = answers.scores
    missed = answers.predicted != answers.truth
    sure = np.where(missed, np.where(answers.truth, 1 - p, p), 0).max(axis=1, initial=0)
    return answers.known & missed.any(axis=1), sure


def _disagreeing(answers: Answers | None, links: CSR | None) -> Ranking:
    title = "Neighbors disagree"
    if links is None:
        return Ranking(
            "disagree", title, [], [], "A run does not hold its graph. For this table: pine explore RUN EDGES"
        )
    if answers is None:
        return Ranking("disagree", title, [], [], "There are no labels that could disagree.")
    apart, neighbors = disagreement(links, answers)
    weighed = apart * neighbors / (neighbors + FEW_NEIGHBORS)
    candidates = np.flatnonzero(weighed > 0)
    order = candidates[np.argsort(-weighed[candidates], kind="stable")][:TABLE_ROWS]
    values = answers.best[1]
    shares = answers.task == "classes"
    rows = [
        [
            answers.nodes.start + int(i),
            answers.text(values[i]),
            f"{round(apart[i] * neighbors[i]):,} of {neighbors[i]:,}" if shares else f"{apart[i]:.2f}",
        ]
        for i in order
    ]
    columns = ["node", "label", "disagree" if shares else "distance"]
    said = {
        "classes": "How many neighbors have another label.",
        "label-sets": "How far the neighbors' sets are on average: 1 - Jaccard's index.",
        "numbers": "How far the neighbors' numbers are on average, in standard deviations.",
    }[answers.task]
    if not neighbors.any():
        said = f"No two nodes of type {answers.type} with a label are neighbors."
    elif answers.scores is not None:
        said += " Where a label is not known, the prediction stands for it."
    return Ranking("disagree", title, columns, rows, said)
