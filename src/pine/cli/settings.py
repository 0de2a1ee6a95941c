"""The settings of a method on the command line: options of their own, --set NAME=VALUE, and --config FILE.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pine
from pine._internal.settings import annotation_of, check_settings, find_setting, own_settings
from pine.errors import InputError

if TYPE_CHECKING:
    from pine.embedder import Embedder

SetOptions = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any other setting of the method, by its name in Python; repeat it.", metavar="K=VALUE"),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Settings in a TOML file: NAME = VALUE a line.", metavar="FILE.toml"),
]


def method_with(method: str, named: Mapping[str, Any], pairs: Sequence[str] | None, config: Path | None) -> Embedder:
    """A method with its settings, checked as in Python; options win over --set, and --set over the file.

    named: settings that have options of their own; None: not given.
    """
    made = pine.methods.method_class(method)()
    given = {} if config is None else _from_file(config)
    given |= _from_pairs(made, pairs or ())
    for name, value in named.items():
        if value is not None:
            _setting(made, name, f"--{name}")
            given[name] = value
    for name in given:
        _setting(made, name, "settings")
    made.set_params(**given)
    check_settings(type(made), own_settings(made))
    return made


def _setting(made: Embedder, name: str, where: str) -> None:
    try:
        find_setting(made, name, made.name)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None


def _from_pairs(made: Embedder, pairs: Sequence[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not (name and equals and text) or name in given:
            raise InputError(f"--set takes NAME=VALUE, each name once, got {pair!r}")
        _setting(made, name, "--set")
        annotation = annotation_of(made, name, made.name)
        given[name] = pine.evaluation.specs.read_value(f"--set {pair}", name, text, annotation)
    return given


def _from_file(path: Path) -> dict[str, Any]:
    """NAME = VALUE, those of settings objects also below [training] or [function]."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(f"{path} is not TOML: {str(problem)[:100]}; write a line NAME = VALUE a setting") from None
    flat: dict[str, Any] = {}
    for name, value in read.items():
        inner = {f"{name}__{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
        flat |= {key: tuple(each) if isinstance(each, list) else each for key, each in inner.items()}
    return flat
