"""What a kind of experiment answers: the results that are made for it, and its rows, checks, tables and figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pine.datasets import Dataset
from pine.evaluation.variants import parse
from pine.labels import Labels
from pine.reproduce.claims import Check, Verdict
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import Picture
from pine.reproduce.rows import Row
from pine.reproduce.runner import Runner


class Kind(ABC):
    """Tables, figures and verdicts come from the rows of an experiment alone."""

    checks: ClassVar[Mapping[str, Check]]
    chosen_on: ClassVar[str] = "held-out training labels of each split"  # where a method's settings are chosen
    mutes_features: ClassVar[bool] = False  # unless an experiment says features = true

    def check_spec(self, spec: str) -> None:
        """Raise where a spec cannot be run."""
        parse(spec)

    def check_data(self, experiment: Experiment, data: Dataset, labels: Labels) -> None:  # noqa: B027 - most ask for nothing more
        """Raise where a data set lacks what an experiment asks of it."""

    def check_packages(self, experiment: Experiment) -> None:  # noqa: B027 - most need none
        """Raise where an optional package is missing."""

    @abstractmethod
    def num_tasks(self, experiment: Experiment) -> int:
        """How many results an experiment asks for, those that settings are chosen on included."""

    @abstractmethod
    def rows(self, experiment: Experiment, runner: Runner) -> list[Row]:
        """Make what is missing: a row for every result, also for those that were stopped or not made."""

    @abstractmethod
    def columns(self, experiment: Experiment) -> Sequence[str]:
        """Columns without which a row of an earlier run is not one of this experiment."""

    @abstractmethod
    def is_whole(self, experiment: Experiment, rows: Sequence[Row]) -> bool:
        """Whether rows are all that a cell has."""

    @abstractmethod
    def sections(self, experiment: Experiment, rows: Sequence[Row]) -> list[str]:
        """Tables in Markdown; the experiment's notes go below each section."""

    @abstractmethod
    def figures(self, experiment: Experiment, rows: Sequence[Row], folder: Path) -> list[Picture]:
        """Draw some rows into a folder, as PNG and SVG."""

    def tables(self, experiment: Experiment, rows: Sequence[Row]) -> str:
        """All tables, with the experiment's notes."""
        notes = "".join(f"\n{note}\n" for note in experiment.notes)
        return "\n".join(f"{section}{notes}" for section in self.sections(experiment, rows))

    def verdicts(self, experiment: Experiment, rows: Sequence[Row]) -> list[Verdict]:
        """Every claim of an experiment, checked."""
        return [self.checks[claim.check](claim, experiment, rows) for claim in experiment.claims]
