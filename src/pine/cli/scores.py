"""How good a run is on labels that were held out, beside simple methods; and what was chosen, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pine

if TYPE_CHECKING:
    from pine.embedder import Embedder

TASK_SCORES = {"classes": "accuracy", "label-sets": "micro F1", "numbers": "R2"}


@dataclass(frozen=True)
class HeldOutScores:
    """Scores by method, higher is better; none where too few labels are known to hold some out, or there are none."""

    metric: str = ""
    scores: dict[str, float] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """For people."""
        if not self.metric:
            return []
        if not self.scores:
            return ["no held-out score: too few labels are known to hold some of them out"]
        shown = ", ".join(f"{name} {score:.3f}" for name, score in self.scores.items())
        return [f"{self.metric} on held-out labels, roughly (two fifths of them, each left out in turn): {shown}"]

    def record(self) -> dict[str, Any]:
        """For run.json."""
        return {"metric": self.metric, "held_out": self.scores} if self.scores else {}


def held_out_scores(model: Embedder, graph: pine.Graph) -> HeldOutScores:
    """PINE's own score by the settings that it chose, label propagation's, and logistic regression's on the start."""
    labels = model.labels_
    if not isinstance(model, pine.PINE) or labels is None:
        return HeldOutScores()
    scores = {} if model.score_ is None else {"PINE": model.score_}
    seed = model.seed
    assert isinstance(seed, int)  # of an option
    references = pine.evaluation.references.reference_scores(graph, labels, model.learned_.start, seed)
    is_numbers = labels.task == "numbers"  # - squared error of standardized numbers
    scores |= {name: 1 + score if is_numbers else score for name, score in references.items()}
    return HeldOutScores(TASK_SCORES[labels.task], {name: round(score, 4) for name, score in scores.items()})


def choice_by_name(model: Embedder) -> dict[str, Any]:
    """The settings that a fit chose on held-out labels, by their names in Python; none if it chose nothing."""
    return {} if model.labels_ is None else model.choice_


def shown(value: Any) -> str:
    """A chosen value: numbers with four digits."""
    if isinstance(value, dict):
        return " + ".join(f"{each:.2f} {name}" for name, each in value.items() if each)
    return ", ".join(map(shown, value)) if isinstance(value, list | tuple) else f"{value:.4g}"
