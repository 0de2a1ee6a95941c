"""Scores of methods on splits of data sets; a method with several settings chooses on held-out labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from pine._internal.settings import plain_settings
from pine.datasets import Dataset
from pine.evaluation.protocol import PUBLIC, SCORING_REVISION, Part
from pine.evaluation.run import check_fits, scored
from pine.evaluation.side_by_side import runs_side_by_side, scored_side_by_side
from pine.evaluation.variants import Variant, parse
from pine.labels import Labels
from pine.methods import method_class
from pine.model.choice import LABEL_SHARES
from pine.reproduce.claims import GRID_CHECKS, Check
from pine.reproduce.experiment import Experiment, Method, Value
from pine.reproduce.figures import Picture, lines_figure, rank_figure, rows_figure, save_figure
from pine.reproduce.figures.lines import CROWDED
from pine.reproduce.kinds.kind import Kind
from pine.reproduce.ranks import average_ranks
from pine.reproduce.rows import Row
from pine.reproduce.runner import NOT_MADE, Results, Runner, stop_text
from pine.reproduce.significance import steps_table, tally_table
from pine.reproduce.tables import METRICS, Grid, grid_table, grids, markdown_table
from pine.reproduce.tasks import Machine, Task

SCORE_COLUMNS = ("dataset", "method", "panel", "value", "ratio", "repeat", "spec", "seconds", "stopped")
NO_SOURCES = {"seed", "device", "threads"}  # settings that keys leave out: the seed is the task's own
PUBLIC_TUNING_SEEDS = 3  # the split is one and the same: a setting is chosen once, by the mean score of so many fits
MIN_LINE = 3  # ratios; lines through fewer points say less than a row for each method


@dataclass(frozen=True)
class Score(Task):
    """A method, as `pine evaluate` names it, on one split: {"scores": {...}, "seconds": ...}."""

    kind: ClassVar[str] = "score"
    dataset: str
    spec: str
    seed: int
    part: Part
    features: bool = False  # whether the method gets the node features of the data set

    def fit_key(self, machine: Machine) -> tuple[Any, ...]:
        """Vectors that no label enters serve all splits; some methods train those of all splits side by side."""
        variant = parse(self.spec)
        part, seed = self.part if variant.predicts else None, self.seed
        if self._side_by_side(machine.configure(variant)):
            part, seed = None, self.seed if variant.on else -1  # the vectors that are its features are of one seed
        return (self.kind, self.dataset, self.spec, seed, self.features, part)

    def _side_by_side(self, variant: Variant) -> bool:
        """Whether it is made together with other splits: not with features, which most often are sparse."""
        return not self.features and runs_side_by_side(variant)

    def sources(self, machine: Machine) -> dict[str, Any]:
        variant = parse(self.spec)
        settings = plain_settings(variant.method().set_params(**variant.settings))
        # What is there in a few tasks only is named in these only: the keys of all others stay as they are.
        rare = {"features": self.features, "public": self.part.ratio == PUBLIC}
        beside: dict[str, Any] = {name: machine.features_digest(self.dataset) for name, there in rare.items() if there}
        if variant.share:
            beside["share"] = LABEL_SHARES
        if variant.on:
            beside["on"] = [variant.on, method_class(variant.on).revision]
        return beside | {
            "method": variant.method.name,
            "revision": variant.method.revision,
            # By their own names, so that a setting may move into another settings object.
            "settings": {name.rpartition("__")[2]: settings[name] for name in settings if name not in NO_SOURCES},
            "labels": variant.labels,
            "types": variant.types,
            "spread": variant.spread,
            "scoring": SCORING_REVISION,
            "seed": self.seed,
            "part": asdict(self.part),
            "data": machine.graph_digest(self.dataset),
        }

    @classmethod
    def make(cls, tasks: Sequence[Self], machine: Machine) -> Iterator[dict[str, Any]]:
        some = tasks[0]
        data, labels = machine.labeled(some.dataset)
        if some.features:
            data = replace(data, graph=data.with_features())
        variant = machine.configure(parse(some.spec))
        check_fits(variant, data, labels)
        if some._side_by_side(variant):
            asked = [(task.part, task.seed) for task in tasks]
            for scores, seconds in scored_side_by_side(data, labels, variant, asked):
                diverged = {"stopped": "error", "message": "training diverged; lower the learning rate"}
                found = diverged if scores is None else {"scores": scores}
                yield found | {"seconds": seconds, "alone": False}
            return
        wanted = {task.part: [variant] for task in tasks}
        for _, _, scores, seconds in scored(data, labels, wanted, some.seed, machine.device):
            yield {"scores": scores, "seconds": seconds}


@dataclass(frozen=True)
class TableEntry:
    """One number of a table: a method, perhaps with a value, on one split of a data set."""

    dataset: str
    method: Method
    value: Value | None
    part: Part
    vector_seeds: int | None = None  # None: one for each repeat
    features: bool = False

    @property
    def specs(self) -> list[str]:
        """The specs to choose from."""
        return self.method.specs(self.value)

    def task(self, spec: str) -> Score:
        """What is made for one of the specs."""
        return self._task(spec, self.part)

    def tuning_tasks(self, spec: str) -> list[Score]:
        """What one of the specs is chosen by: held-out labels of this split."""
        repeats = range(PUBLIC_TUNING_SEEDS) if self.part.ratio == PUBLIC else [self.part.repeat]
        return [self._task(spec, Part(self.part.ratio, repeat, held_out=True)) for repeat in repeats]

    def _task(self, spec: str, part: Part) -> Score:
        seed = part.repeat if self.vector_seeds is None or parse(spec).predicts else part.repeat % self.vector_seeds
        return Score(self.dataset, spec, seed, part, self.features)

    def row(self, spec: str, result: Mapping[str, Any], metrics: Sequence[str]) -> Row:
        """The row of its result with one of the specs."""
        about: Row = {
            "dataset": self.dataset,
            "method": self.method.name,
            "panel": self.method.panel,
            "value": self.value,
            "ratio": self.part.ratio,
            "repeat": self.part.repeat,
            "spec": spec,
        }
        if "scores" not in result:
            return about | {"seconds": None, "stopped": stop_text(result)}
        scores = {metric: result["scores"][metric] for metric in metrics}
        price = {"seconds": round(result["seconds"], 3), "alone": int(result["alone"]) if "alone" in result else None}
        return about | scores | price | {"stopped": ""}


class Scores(Kind):
    checks: ClassVar[Mapping[str, Check]] = GRID_CHECKS
    mutes_features: ClassVar[bool] = True

    def check_data(self, experiment: Experiment, data: Dataset, labels: Labels) -> None:
        if experiment.features:
            data.with_features()
        tuned = any(method.search for method in experiment.methods)
        if PUBLIC in experiment.ratios:
            Part(PUBLIC, 0, held_out=tuned).split(data.name, labels.known, data.splits)

    def num_tasks(self, experiment: Experiment) -> int:
        entries = list(_entries(experiment))
        return len(set(_tuning_tasks(entries))) + len(entries)

    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        entries = list(_entries(experiment))
        held_out = runner.results(_tuning_tasks(entries), f"{experiment.name}, choosing settings")
        chosen = {entry: _best(entry, held_out, experiment.metrics[0]) for entry in entries}
        found = runner.results([entry.task(chosen[entry]) for entry in entries], experiment.name)
        rows = []
        for entry in entries:
            tuned = entry.specs if len(entry.specs) > 1 else []
            whole = all(held_out[task] != NOT_MADE for spec in tuned for task in entry.tuning_tasks(spec))
            result = found[entry.task(chosen[entry])] if whole else NOT_MADE
            rows.append(entry.row(chosen[entry], result, experiment.metrics))
        return rows

    def columns(self, experiment: Experiment) -> Sequence[str]:
        return (*SCORE_COLUMNS, *experiment.metrics)

    def is_whole(self, experiment: Experiment, rows: Sequence[Row]) -> bool:
        number = experiment.num_repeats(rows[0]["dataset"], rows[0]["ratio"], rows[0]["method"]) if rows else 0
        return bool(rows) and [row["repeat"] for row in rows] == list(range(number))

    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        whole = grids(rows, experiment.metrics)
        compared = [grid for grid in whole if not grid.by_value and len(grid.methods) > 1]
        if experiment.steps:
            tests = steps_table(compared)
        else:
            tests = tally_table(compared, compared[0].methods[0], experiment.undrawn) if compared else ""
        return ["\n".join(part for part in [*map(grid_table, whole), tests, chosen_table(experiment, rows)] if part)]

    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """A figure for each data set, and the average ranks over them. Steps are drawn from the last to the first."""
        whole = [grid.without(experiment.undrawn) for grid in grids(rows, experiment.metrics)]
        whole = [grid for grid in whole if grid.cells]
        if experiment.steps:
            whole = [replace(grid, cells=dict(reversed(grid.cells.items()))) for grid in whole]
        draw = rows_figure if experiment.steps or all(map(_reads_as_rows, whole)) else lines_figure
        made = []
        for dataset in dict.fromkeys(grid.dataset for grid in whole):
            own = [grid for grid in whole if grid.dataset == dataset]
            text = f"{experiment.title}, {dataset}. {_in_words(own)}"
            made.append(save_figure(draw(dataset, own), folder / f"{experiment.name}-{dataset}", text))
        return made if experiment.steps else [*made, *_rank_pictures(experiment, whole, folder)]


def _reads_as_rows(grid: Grid) -> bool:
    """Few ratios; or no more than make a line, where many methods would lie on each other."""
    if grid.by_value:
        return False
    few = sum(x != PUBLIC for x in grid.xs) < MIN_LINE
    return few or (len(grid.xs) == MIN_LINE and len(grid.methods) > CROWDED)


def _in_words(some: Sequence[Grid]) -> str:
    """What a figure of grids shows."""
    methods = dict.fromkeys(method for grid in some for method in grid.methods)
    metrics = dict.fromkeys(METRICS.get(grid.metric, grid.metric) for grid in some)
    by = dict.fromkeys(grid.panel or "value" for grid in some) if some[0].by_value else ["share of labeled nodes"]
    shown = " and ".join(metrics)
    return f"{shown[0].upper()}{shown[1:]} by {', '.join(by)}: {'; '.join(methods)}. A table below has the numbers."


def _rank_pictures(experiment: Experiment, whole: Sequence[Grid], folder: Path) -> list[Picture]:
    """The diagram of average ranks, where there are enough methods and data sets to tell some of them apart."""
    found = None if any(grid.by_value for grid in whole) else average_ranks(whole)
    if found is None or any(len(group) == len(found.ranks) for group in found.groups):
        return []
    ranks = ", ".join(f"{method} {rank:.2f}" for method, rank in found.ranks.items())
    groups = "; ".join(", ".join(group) for group in found.groups) or "none"
    text = f"{experiment.title}, average ranks over {found.num_datasets} data sets: {ranks}. Joined by bars: {groups}."
    figure = rank_figure(f"{experiment.title}: average ranks", found, whole[0].methods[0])
    return [save_figure(figure, folder / f"{experiment.name}-ranks", text)]


def chosen_table(experiment: Experiment, rows: Sequence[Row]) -> str:
    """How often each of several settings was chosen on each data set; "" where there was nothing to choose."""
    counts = Counter((row["method"], row["dataset"], row["spec"]) for row in rows if not row["stopped"])
    datasets, run = (list(dict.fromkeys(row[column] for row in rows)) for column in ("dataset", "method"))
    lines = []
    for method in experiment.methods:
        for spec in method.specs() if method.name in run and method.search and not method.values else ():
            found = [counts[method.name, dataset, spec] for dataset in datasets]
            lines.append([method.name, spec, *map(str, found)])
    title = "How often each setting was chosen"
    return markdown_table(["method", "setting", *datasets], lines, title) if lines else ""


def _entries(experiment: Experiment) -> Iterator[TableEntry]:
    for dataset in experiment.datasets:
        seeds, features = experiment.vector_seeds.get(dataset), experiment.features
        for method in experiment.methods:
            for value in method.values or (None,):
                for ratio in experiment.ratios:
                    for repeat in range(experiment.num_repeats(dataset, ratio, method.name)):
                        yield TableEntry(dataset, method, value, Part(ratio, repeat), seeds, features)


def _tuning_tasks(entries: Sequence[TableEntry]) -> list[Score]:
    """What settings are chosen on. Vectors that no label enters serve the report too: both are made at once."""
    tuned = [(entry, spec) for entry in entries if len(entry.specs) > 1 for spec in entry.specs]
    held_out = [task for entry, spec in tuned for task in entry.tuning_tasks(spec)]
    return held_out + [entry.task(spec) for entry, spec in tuned if not parse(spec).predicts]


def _best(entry: TableEntry, held_out: Results, metric: str) -> str:
    """The spec that is best on held-out labels of this split; the paper's where several are."""
    if len(entry.specs) == 1:
        return entry.specs[0]
    found = [[held_out[task] for task in entry.tuning_tasks(spec)] for spec in entry.specs]
    values = [sum(result["scores"][metric] if "scores" in result else -1.0 for result in results) for results in found]
    return entry.specs[values.index(max(values))]
