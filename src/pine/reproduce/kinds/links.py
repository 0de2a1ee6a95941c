"""Link prediction: scores of methods on edges held out uniformly (pine.links); no labels, no features.

ratios are the shares of edges that are held out for the test; half as many are for validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from pine._internal.settings import plain_settings
from pine.datasets import Dataset
from pine.evaluation.link_runs import LINKS_REVISION, score_links
from pine.evaluation.link_specs import LinkSpec, parse_link_spec
from pine.evaluation.protocol import Part
from pine.labels import Labels
from pine.links.pairs import check_relation_of
from pine.links.split import hold_out
from pine.reproduce.claims import GRID_CHECKS, Check
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import Picture
from pine.reproduce.kinds.scores import NO_SOURCES, Scores, TableEntry
from pine.reproduce.rows import Row
from pine.reproduce.runner import Runner
from pine.reproduce.significance import tally_table
from pine.reproduce.tables import METRICS, cell_text, grids, markdown_table, seconds_text
from pine.reproduce.tasks import Machine, Task


@dataclass(frozen=True)
class LinkScore(Task):
    """A method, as `pine evaluate --task link` names it, on one split: {"scores": {...}, "seconds": ...}."""

    kind: ClassVar[str] = "link"
    dataset: str
    spec: str
    share: float
    repeat: int

    def fit_key(self, machine: Machine) -> tuple[Any, ...]:
        """One fit serves all scores of its vectors."""
        return (self.kind, self.dataset, parse_link_spec(self.spec).fit_key, self.share, self.repeat)

    def sources(self, machine: Machine) -> dict[str, Any]:
        spec = parse_link_spec(self.spec)
        beside: dict[str, Any] = {"data": machine.graph_digest(self.dataset), "links": LINKS_REVISION}
        if spec.variant is not None:
            method = spec.variant.method
            settings = plain_settings(method().set_params(**spec.variant.settings))
            beside |= {"method": method.name, "revision": method.revision}
            beside["settings"] = {
                name.rpartition("__")[2]: settings[name] for name in settings if name not in NO_SOURCES
            }
        return beside | {"score": spec.score, "share": self.share, "repeat": self.repeat}

    @classmethod
    def make(cls, tasks: Sequence[Self], machine: Machine) -> Iterator[dict[str, Any]]:
        some = tasks[0]
        data, _ = machine.labeled(some.dataset)
        split = hold_out(data.graph, some.repeat, test=some.share, valid=some.share / 2)
        specs = [_configured(parse_link_spec(task.spec), machine) for task in tasks]
        for _, scores, seconds in score_links(split, specs, some.repeat, machine.threads):
            yield {"scores": scores, "seconds": seconds}


class LinkScores(Scores):
    checks: ClassVar[Mapping[str, Check]] = GRID_CHECKS
    chosen_on: ClassVar[str] = "validation edges of each split"
    mutes_features: ClassVar[bool] = False

    def check_spec(self, spec: str) -> None:
        parse_link_spec(spec)

    def check_data(self, experiment: Experiment, data: Dataset, labels: Labels) -> None:
        check_relation_of(data.graph, None)

    def num_tasks(self, experiment: Experiment) -> int:
        return len(list(_entries(experiment)))

    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        entries = list(_entries(experiment))
        found = runner.results([_task(entry) for entry in entries], experiment.name)
        return [entry.row(entry.method.spec, found[_task(entry)], experiment.metrics) for entry in entries]

    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        """A table for each data set, with a column for each score, and what paired tests say."""
        whole = grids(rows, experiment.metrics)
        made = []
        for dataset in dict.fromkeys(grid.dataset for grid in whole):
            own = [grid for grid in whole if grid.dataset == dataset]
            (x,) = own[0].xs
            lines = [
                [
                    method,
                    *(cell_text(grid.cells[method, x], bold=method == grid.winner(x)) for grid in own),
                    seconds_text([own[0].cells[method, x]]),
                ]
                for method in own[0].methods
            ]
            repeats = own[0].cells[own[0].methods[0], x].repeats
            head = ["method", *(METRICS.get(grid.metric, grid.metric) for grid in own), "s"]
            made.append(markdown_table(head, lines, f"{dataset}, {repeats} splits"))
        tests = tally_table(whole, whole[0].methods[0]) if whole else ""
        return ["\n".join(part for part in [*made, tests] if part)]

    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """None: the tables are small."""
        return []


def _configured(spec: LinkSpec, machine: Machine) -> LinkSpec:
    return spec if spec.variant is None else replace(spec, variant=machine.configure(spec.variant))


def _task(entry: TableEntry) -> LinkScore:
    assert not isinstance(entry.part.ratio, str)
    return LinkScore(entry.dataset, entry.method.spec, entry.part.ratio, entry.part.repeat)


def _entries(experiment: Experiment) -> Iterator[TableEntry]:
    for dataset in experiment.datasets:
        for method in experiment.methods:
            for ratio in experiment.ratios:
                for repeat in range(experiment.num_repeats(dataset, ratio)):
                    yield TableEntry(dataset, method, None, Part(ratio, repeat))
