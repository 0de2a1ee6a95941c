"""Scores of networks on graphs never seen in training; settings are chosen by the score on the validation graphs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pine._internal.optional import need_pyg
from pine.baselines import DeepWalk
from pine.evaluation.protocol import Part
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import Picture, panels_figure, save_figure
from pine.reproduce.inductive.run import NETWORKS_REVISION, learn
from pine.reproduce.inductive.settings import WalkSettings, parse
from pine.reproduce.kinds.scores import Scores, TableEntry
from pine.reproduce.rows import Row
from pine.reproduce.runner import NOT_MADE, Runner
from pine.reproduce.tables import cell_text, grid_title, grids, markdown_table, seconds_text
from pine.reproduce.tasks import Machine, SingleTask

ALL_LABELS = 1.0  # the ratio in the rows: all labels of the training graphs are known


@dataclass(frozen=True)
class Inductive(SingleTask):
    """An inductive network: {"scores": {"micro_f1": ...}, "validation", "kept", "epochs", "seconds"}."""

    kind: ClassVar[str] = "inductive"
    dataset: str
    spec: str
    seed: int

    def fit_key(self, machine: Machine) -> tuple[Any, ...]:
        """Vectors of walks serve with features and without, and for all trainings of their map."""
        setting = parse(self.spec)
        if not isinstance(setting, WalkSettings):
            return super().fit_key(machine)
        return (self.kind, self.dataset, setting.walk, self.seed)

    def sources(self, machine: Machine) -> dict[str, Any]:
        setting = parse(self.spec)
        return {
            "revision": NETWORKS_REVISION,
            "vectors": DeepWalk.revision if isinstance(setting, WalkSettings) else None,
            "setting": self.spec.partition(":")[0],
            "settings": asdict(setting),
            "seed": self.seed,
            "data": [machine.graph_digest(self.dataset), machine.features_digest(self.dataset)],
        }

    def result(self, machine: Machine) -> dict[str, Any]:
        data, labels = machine.labeled(self.dataset)
        found = asdict(learn(parse(self.spec), data, labels, self.seed, machine.device, machine.threads))
        return {"scores": {"micro_f1": found.pop("test")}} | found


class InductiveScores(Scores):
    """As scores, with columns validation (the score on validation graphs), kept (its epoch) and epochs."""

    chosen_on: ClassVar[str] = "the validation graphs"

    def check_spec(self, spec: str) -> None:
        parse(spec)

    def check_packages(self, experiment: Experiment) -> None:
        need_pyg(f"the experiment {experiment.name}")

    def num_tasks(self, experiment: Experiment) -> int:
        return len(set(_tasks(experiment)))

    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        """A spec is chosen once for all repeats, by what it reaches on the validation graphs."""
        found = runner.results(_tasks(experiment), experiment.name)
        repeats = range(experiment.repeats)
        rows = []
        for dataset in experiment.datasets:
            for method in experiment.methods:
                by_spec = {spec: [found[Inductive(dataset, spec, r)] for r in repeats] for spec in method.specs()}
                spec = best_validated(by_spec)
                whole = all(result != NOT_MADE for results in by_spec.values() for result in results)
                for repeat, result in enumerate(by_spec[spec] if whole else [NOT_MADE] * experiment.repeats):
                    entry = TableEntry(dataset, method, None, Part(ALL_LABELS, repeat))
                    more = {key: result[key] for key in ("validation", "kept", "epochs") if key in result}
                    rows.append(entry.row(spec, result, experiment.metrics) | more)
        return rows

    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        """A table for each panel: the score on validation and on test graphs, and what was chosen by the former."""
        head = ["method", "validation", "test", "epochs", "s", "chosen on validation"]
        made = []
        for test, validation in zip(grids(rows, experiment.metrics), grids(rows, ["validation"]), strict=True):
            (x,) = test.xs
            winner = test.winner(x)
            lines = []
            for method in test.methods:
                cell = test.cells[method, x]
                own = [r for r in rows if (r["dataset"], r["panel"], r["method"]) == (test.dataset, test.panel, method)]
                epochs = f"{np.mean([r['epochs'] for r in own if not r['stopped']]):.0f}" if cell.values else ""
                numbers = [cell_text(validation.cells[method, x]), cell_text(cell, bold=method == winner)]
                lines.append([method, *numbers, epochs, seconds_text([cell]), _choice(experiment, test.panel, own[0])])
            made.append(markdown_table(head, lines, grid_title(test)))
        return made

    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """One figure, with a panel for each setting."""
        whole = grids(rows, experiment.metrics)
        shown = "; ".join(f"{grid.panel or grid.dataset}: {', '.join(grid.methods)}" for grid in whole)
        text = f"{experiment.title}. A row for each method. {shown}. Tables below have the numbers."
        return [save_figure(panels_figure(experiment.title, whole), folder / experiment.name, text)]


def best_validated(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The spec of the best mean validation score; one that was stopped in a repeat comes last."""

    def mean(spec: str) -> float:
        stopped = any("scores" not in result for result in results[spec])
        return -1.0 if stopped else statistics.mean(result["validation"] for result in results[spec])

    return max(results, key=mean)


def _tasks(experiment: Experiment) -> list[Inductive]:
    return [
        Inductive(dataset, spec, repeat)
        for dataset in experiment.datasets
        for repeat in range(experiment.repeats)
        for method in experiment.methods
        for spec in method.specs()
    ]


def _choice(experiment: Experiment, panel: str, row: Row) -> str:
    """What a method with several candidates took: the name of the line that shows the same, or the spec."""
    own = [method for method in experiment.methods if method.panel == panel]
    if not any(method.name == row["method"] and method.search for method in own):
        return ""
    same = [method.name for method in own if method.spec == row["spec"] and not method.search]
    return same[0] if same else str(row["spec"])
