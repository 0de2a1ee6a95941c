"""Everything that experiments ask for, made once: first what settings are chosen on, then what is reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from pine._internal.parallel import number_of_threads
from pine._internal.progress import ProgressCounter
from pine.reproduce.store import Store
from pine.reproduce.tasks import Machine, Unit, told
from pine.reproduce.workers import Limits, Stopped, run_jobs

Results = dict[Unit, dict[str, Any]]  # {"stopped": why, "said": ...} for what could not be made
NOT_MADE = {"stopped": "not made", "said": "nothing is kept of it"}


@dataclass(frozen=True)
class Runner:
    """Makes units that the store does not have, on several processes, and remembers them.

    only_kept: makes nothing.
    """

    store: Store
    machine: Machine
    processes: int = 1
    limits: Limits = field(default_factory=Limits)
    work: ProgressCounter = field(default_factory=lambda: ProgressCounter(None, "results"))
    only_kept: bool = False

    def results(self, units: Iterable[Unit], what: str) -> Results:
        """The results of units, by what is kept or by making them; progress is shown."""
        wanted = list(dict.fromkeys(units))
        keys = {unit: unit.key(self.machine) for unit in wanted}
        kept = self.store.get(keys.values())
        done = {unit: kept[key] for unit, key in keys.items() if key in kept and self._final(kept[key])}
        missing = [unit for unit in wanted if unit not in done]
        self.work.advance(len(done), what)
        if self.only_kept:
            return done | dict.fromkeys(missing, NOT_MADE)
        jobs = jobs_of(missing)
        work = partial(make, machine=self._share(len(jobs)))
        for unit, outcome in run_jobs(work, jobs, self.processes, self.limits):
            result = done[unit] = self._told(outcome)
            if result.get("stopped") != "died":  # next time it may live
                self.store.put(keys[unit], told(unit), result)
            self.work.advance(1, f"{what}: {named(unit)}")
        return done

    def _final(self, result: dict[str, Any]) -> bool:
        """What was stopped by a smaller budget is tried again."""
        if result.get("stopped") not in ("time", "memory"):
            return True
        return bool(result["seconds"] >= self.limits.seconds and result["memory"] >= self.limits.memory)

    def _told(self, outcome: Any) -> dict[str, Any]:
        if not isinstance(outcome, Stopped):
            return dict(outcome)
        return {"stopped": outcome.why, "said": outcome.said, **asdict(self.limits)}

    def _share(self, jobs: int) -> Machine:
        """The machine of one process: its share of the cores."""
        threads = max(1, number_of_threads(self.machine.threads) // max(1, min(self.processes, jobs)))
        return Machine(self.machine.data_dir, self.machine.device, threads)


def jobs_of(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units in groups that are made together."""
    groups: dict[Any, list[Unit]] = defaultdict(list)
    for unit in units:
        groups[unit.together].append(unit)
    return list(groups.values())


def make(job: list[Any], machine: Machine) -> Iterator[dict[str, Any]]:
    """The results of one job, in the process of a worker."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(machine.threads):
        yield from type(job[0]).make(job, machine)


def named(unit: Unit) -> str:
    """A unit in a few words."""
    about = told(unit)
    return " ".join(str(about[key]) for key in ("dataset", "spec", "target", "size") if key in about)
