"""From an experiment to its rows: what has to be made, in which order, and what became of it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pine.evaluation.protocol import Part
from pine.evaluation.variants import parse
from pine.reproduce.experiment import Experiment, Method, Value
from pine.reproduce.rows import APPROXIMATION, MAP, SCORE, Row
from pine.reproduce.run import NOT_MADE, Results, Runner
from pine.reproduce.tasks import Approximation, Inductive, Map, Score

CELL = ("dataset", "method", "panel", "value", "ratio", "target")  # columns whose values rows of a cell have in common


@dataclass(frozen=True)
class Outcome:
    """The rows of an experiment, and how many of its cells are as an earlier run had them, or still to be made."""

    rows: list[Row]
    earlier: int = 0
    empty: int = 0


def outcome_of(experiment: Experiment, runner: Runner, earlier: Iterable[Row] = ()) -> Outcome:
    """Make what is missing, and tell what became of everything.

    A cell of which a part was not made is as earlier rows have it, or left out.
    """
    makers = {"scores": _scores, "maps": _maps, "approximation": _approximation, "inductive": _inductive}
    before = _cells(_of(experiment, earlier))
    rows: list[Row] = []
    taken = empty = 0
    for cell, its_rows in _cells(makers[experiment.kind](experiment, runner)).items():
        if all(row.get("stopped") != _why(NOT_MADE) for row in its_rows):
            rows += its_rows
        elif _is_whole(experiment, before[cell]):
            rows += before[cell]
            taken += 1
        else:
            empty += 1
    return Outcome(rows, taken, empty)


def _cells(rows: Iterable[Row]) -> defaultdict[tuple[Any, ...], list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row.get(column) for column in CELL)].append(row)
    return found


def _of(experiment: Experiment, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows that could be of this experiment as it is now: with all columns, and a spec that its method still has."""
    needed = {"maps": MAP, "approximation": APPROXIMATION}.get(experiment.kind, (*SCORE, *experiment.metrics))
    specs = {(m.name, spec) for m in experiment.methods for value in m.values or (None,) for spec in m.specs(value)}
    for row in rows:
        if set(needed) <= row.keys() and ("spec" not in needed or (row["method"], row["spec"]) in specs):
            yield row


def _is_whole(experiment: Experiment, rows: Sequence[Row]) -> bool:
    """Whether rows are all that a cell has."""
    if experiment.kind == "maps":
        return bool(rows)
    if experiment.kind == "approximation":
        return {row["size"] for row in rows} == set(experiment.sizes)
    return [row["repeat"] for row in rows] == list(range(experiment.repeats))


def amount(experiment: Experiment) -> int:
    """How many results it asks for, those that settings are chosen on included."""
    if experiment.kind == "scores":
        places = list(_places(experiment))
        return len(set(_to_choose(places))) + len(places)
    if experiment.kind == "maps":
        return len(experiment.datasets)
    if experiment.kind == "inductive":
        return len(set(_networks(experiment)))
    return len(_targets(experiment))


# ---- scores ----


@dataclass(frozen=True)
class Place:
    """One number of a table: a method, perhaps with a value, on one split of a data set."""

    dataset: str
    method: Method
    value: Value | None
    part: Part
    one_seed: bool

    @property
    def specs(self) -> list[str]:
        """The specs to choose from."""
        return self.method.specs(self.value)

    def unit(self, spec: str, held_out: bool = False) -> Score:
        """What is made for one of the specs."""
        seed = 0 if self.one_seed and not parse(spec).predicts else self.part.repeat
        return Score(self.dataset, spec, seed, Part(self.part.ratio, self.part.repeat, held_out))


def _scores(experiment: Experiment, runner: Runner) -> list[Row]:
    places = list(_places(experiment))
    held_out = runner.results(_to_choose(places), f"{experiment.name}, choosing settings")
    chosen = {place: _best(place, held_out, experiment.metrics[0]) for place in places}
    found = runner.results([place.unit(chosen[place]) for place in places], experiment.name)
    rows = []
    for place in places:
        whole = len(place.specs) == 1 or all(held_out[place.unit(s, held_out=True)] != NOT_MADE for s in place.specs)
        result = found[place.unit(chosen[place])] if whole else NOT_MADE
        rows.append(_row(place, chosen[place], result, experiment.metrics))
    return rows


def _to_choose(places: Sequence[Place]) -> list[Score]:
    """What settings are chosen on. Vectors that no label enters serve the report too: both are made at once."""
    tuned = [(place, spec) for place in places if len(place.specs) > 1 for spec in place.specs]
    held_out = [place.unit(spec, held_out=True) for place, spec in tuned]
    return held_out + [place.unit(spec) for place, spec in tuned if not parse(spec).predicts]


def _places(experiment: Experiment) -> Iterator[Place]:
    for dataset in experiment.datasets:
        for method in experiment.methods:
            for value in method.values or (None,):
                for ratio in experiment.ratios:
                    for repeat in range(experiment.repeats):
                        yield Place(dataset, method, value, Part(ratio, repeat), dataset in experiment.one_seed)


def _best(place: Place, held_out: Results, metric: str) -> str:
    """The spec that is best on held-out training labels of this split; the paper's where several are."""
    if len(place.specs) == 1:
        return place.specs[0]
    results = [held_out[place.unit(spec, held_out=True)] for spec in place.specs]
    values = [result["scores"][metric] if "scores" in result else -1.0 for result in results]
    return place.specs[values.index(max(values))]


def _row(place: Place, spec: str, result: dict[str, Any], metrics: Sequence[str]) -> Row:
    about: Row = {
        "dataset": place.dataset,
        "method": place.method.name,
        "panel": place.method.panel,
        "value": place.value,
        "ratio": place.part.ratio,
        "repeat": place.part.repeat,
        "spec": spec,
    }
    if "scores" not in result:
        return about | {"seconds": None, "stopped": _why(result)}
    scores = {metric: result["scores"][metric] for metric in metrics}
    return about | scores | {"seconds": round(result["seconds"], 3), "stopped": ""}


def _why(result: Mapping[str, Any]) -> str:
    """Why there is no result."""
    return f"{result['stopped']}: {result['said']}"


# ---- maps, approximation ----


def _maps(experiment: Experiment, runner: Runner) -> list[Row]:
    units = [Map(name, experiment.methods[0].spec, experiment.ratios[0]) for name in experiment.datasets]
    found = runner.results(units, experiment.name)
    columns = MAP[1:]
    rows: list[Row] = []
    for unit in units:
        result, about = found[unit], {"dataset": unit.dataset}
        if "stopped" in result:
            rows.append(about | {"stopped": _why(NOT_MADE)})
        else:
            points = zip(*(result[column] for column in columns), strict=True)
            rows += [about | dict(zip(columns, point, strict=True)) for point in points]
    return rows


def _approximation(experiment: Experiment, runner: Runner) -> list[Row]:
    units = _targets(experiment)
    found = runner.results(units, experiment.name)
    rows: list[Row] = []
    for unit in units:
        about = {"target": unit.target, "size": unit.size}
        if "errors" in found[unit]:
            rows += [about | {"seed": seed, "error": error} for seed, error in enumerate(found[unit]["errors"])]
        else:
            rows.append(about | {"stopped": _why(NOT_MADE)})  # a line is drawn whole or not at all
    return rows


def _targets(experiment: Experiment) -> list[Approximation]:
    from pine.reproduce.approximation import TARGETS

    return [Approximation(target, size) for target in TARGETS for size in experiment.sizes]


# ---- inductive ----


def _inductive(experiment: Experiment, runner: Runner) -> list[Row]:
    """A spec is chosen once for all repeats, by what it reaches on the validation graphs."""
    found = runner.results(_networks(experiment), experiment.name)
    rows = []
    for dataset in experiment.datasets:
        for method in experiment.methods:
            all_found = {spec: _repeats(experiment, dataset, spec, found) for spec in method.specs()}
            spec = best_validated(all_found)
            whole = all(result != NOT_MADE for results in all_found.values() for result in results)
            for repeat, result in enumerate(all_found[spec] if whole else [NOT_MADE] * experiment.repeats):
                rows.append(_inductive_row(dataset, method, repeat, spec, result, experiment.metrics))
    return rows


def _networks(experiment: Experiment) -> list[Inductive]:
    return [
        Inductive(dataset, spec, repeat)
        for dataset in experiment.datasets
        for repeat in range(experiment.repeats)
        for method in experiment.methods
        for spec in method.specs()
    ]


def _repeats(experiment: Experiment, dataset: str, spec: str, found: Results) -> list[dict[str, Any]]:
    return [found[Inductive(dataset, spec, repeat)] for repeat in range(experiment.repeats)]


def best_validated(results: Mapping[str, Sequence[dict[str, Any]]]) -> str:
    """The spec of the best mean validation score; one that was stopped in a repeat comes last."""

    def mean(spec: str) -> float:
        stopped = any("scores" not in result for result in results[spec])
        return -1.0 if stopped else statistics.mean(result["validation"] for result in results[spec])

    return max(results, key=mean)


def _inductive_row(
    dataset: str, method: Method, repeat: int, spec: str, result: dict[str, Any], metrics: Sequence[str]
) -> Row:
    place = Place(dataset, method, None, Part(1.0, repeat), False)  # all labels of the training graphs are known
    more = {key: result[key] for key in ("validation", "kept", "epochs") if key in result}
    return _row(place, spec, result, metrics) | more
