"""Errors of set functions of several sizes that learned functions of sets (pine.reproduce.approximation).

falls  the error of every target falls by a factor from the smallest to the largest size
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numpy as np

from pine.reproduce.approximation import APPROXIMATION_REVISION, TARGETS, errors
from pine.reproduce.claims import Check, Verdict
from pine.reproduce.experiment import Claim, Experiment
from pine.reproduce.figures import Picture, save_figure
from pine.reproduce.figures.style import add_caption, add_title, method_styles
from pine.reproduce.kinds.kind import Kind
from pine.reproduce.rows import Row
from pine.reproduce.runner import NOT_MADE, Runner, stop_text
from pine.reproduce.tables import markdown_table
from pine.reproduce.tasks import Machine, SingleTask

ERROR_COLUMNS = ("target", "size", "seed", "error")


@dataclass(frozen=True)
class Approximation(SingleTask):
    """Errors of five functions of one size that learned a function of sets: {"errors": [...]}."""

    kind: ClassVar[str] = "approximation"
    target: str
    size: int

    def sources(self, machine: Machine) -> dict[str, Any]:
        return {"revision": APPROXIMATION_REVISION} | asdict(self)

    def result(self, machine: Machine) -> dict[str, Any]:
        return {"errors": errors(TARGETS[self.target], self.size).tolist()}


def _falls(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    factor, held, texts = claim.needs["factor"], 0, []
    sizes, targets = _sizes(rows), _targets(rows)
    for target in targets:
        few, many = (median(_errors(rows, target, size)) for size in (sizes[0], sizes[-1]))
        held += few >= factor * many
        texts.append(f"{target} {few / many:.0f}-fold")
    rule = f"from the smallest to the largest size the median error falls at least {factor:g}-fold"
    return Verdict(claim, held, len(targets), held == len(targets) > 0, "; ".join(texts), rule=rule)


class Approximations(Kind):
    checks: ClassVar[Mapping[str, Check]] = {"falls": _falls}

    def num_tasks(self, experiment: Experiment) -> int:
        return len(_tasks(experiment))

    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        tasks = _tasks(experiment)
        found = runner.results(tasks, experiment.name)
        rows: list[Row] = []
        for task in tasks:
            about = {"target": task.target, "size": task.size}
            if "errors" in found[task]:
                rows += [about | {"seed": seed, "error": error} for seed, error in enumerate(found[task]["errors"])]
            else:
                rows.append(about | {"stopped": stop_text(NOT_MADE)})  # a line is drawn whole or not at all
        return rows

    def columns(self, experiment: Experiment) -> Sequence[str]:
        return ERROR_COLUMNS

    def is_whole(self, experiment: Experiment, rows: Sequence[Row]) -> bool:
        return {row["size"] for row in rows} == set(experiment.sizes)

    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        sizes = _sizes(rows)
        lines = [
            [target, *(f"{median(_errors(rows, target, size)):.4f}" for size in sizes)] for target in _targets(rows)
        ]
        return [markdown_table(["median error, by size", *map(str, sizes)], lines)]

    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """Error against size, a line a target: median and range over the seeds."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4.6), layout="constrained")
        ax = figure.subplots()
        sizes, targets = _sizes(rows), _targets(rows)
        styles = method_styles(targets)
        targets.sort(key=lambda target: -median(_errors(rows, target, sizes[-1])))  # the legend as the lines end
        for target in targets:
            error = np.array([_errors(rows, target, size) for size in sizes])
            ax.plot(sizes, np.median(error, axis=1), **styles[target] | {"linewidth": 1.6})
            ax.fill_between(sizes, error.min(1), error.max(1), color=styles[target]["color"], alpha=0.15, linewidth=0)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.set_xlabel("size s: Q = s units of sigma per projection in g, L = 2 s in h")
        ax.set_ylabel("error / standard deviation")
        ax.grid(alpha=0.3, which="both", linewidth=0.5)
        ax.legend(frameon=False, fontsize=9)
        count = len({row["seed"] for row in rows})
        add_title(figure, experiment.title)
        add_caption(figure, f"Points: median over {count} seeds; bands: from the lowest to the highest of them.")
        text = f"{experiment.title}: the error on {', '.join(targets)}. A table below has the numbers."
        return [save_figure(figure, folder / experiment.name, text)]


def _tasks(experiment: Experiment) -> list[Approximation]:
    return [Approximation(target, size) for target in TARGETS for size in experiment.sizes]


def _sizes(rows: Sequence[Row]) -> list[int]:
    return sorted({row["size"] for row in rows})


def _targets(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["target"] for row in rows))


def _errors(rows: Sequence[Row], target: str, size: int) -> list[float]:
    return [row["error"] for row in rows if (row["target"], row["size"]) == (target, size)]
