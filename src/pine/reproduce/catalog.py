"""The experiments that there are: the TOML files in experiments/, each checked by its kind when it is read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from pine.errors import InputError, listed, one_of
from pine.reproduce.experiment import Experiment
from pine.reproduce.kinds import KINDS


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of their names."""
    folder = files("pine.reproduce") / "experiments"
    found = sorted((path.name, path) for path in folder.iterdir() if path.name.endswith(".toml"))
    texts = {name.removesuffix(".toml"): path.read_text(encoding="utf-8") for name, path in found}
    return {name: experiment_of(name, tomllib.loads(text)) for name, text in texts.items()}


def find(name: str, known: Mapping[str, Experiment] | None = None) -> Experiment:
    """An experiment by its name."""
    known = experiments() if known is None else known
    if name not in known:
        raise InputError(f"unknown experiment {name!r}; there are {listed(known, 20)}, and all")
    return known[name]


def experiment_of(name: str, given: Mapping[str, Any]) -> Experiment:
    """An experiment as its file has it; one that could not be run is refused."""
    experiment = Experiment.of(name, given)
    one_of("kind", experiment.kind, KINDS)
    kind = KINDS[experiment.kind]
    if experiment.features and not kind.mutes_features:
        raise InputError(f"{name}: features = true is for kinds that mute them, not for {experiment.kind!r}")
    for each in (experiment, experiment.quicker()):
        for _, spec in each.specs():
            kind.check_spec(spec)
    for claim in experiment.claims:
        one_of(f"{name}: check", claim.check, kind.checks)
    return experiment
