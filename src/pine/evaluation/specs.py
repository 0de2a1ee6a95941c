"""Specs NAME:key=value[:key=value ...]: a name and settings, each key once, values as the settings' annotations say."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from typing import Annotated, Any, get_args, get_origin

from pine._internal.settings import KIND_WORDS, in_words, is_a, kinds_of
from pine.errors import InputError

LITERALS = {"none": None, "true": True, "false": False}
METAPATHS = tuple[tuple[str, ...], ...]
METAPATH_WORDS = "cycles of node types such as author-term-author (several joined by +)"


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """The name of a spec, and its settings as they are written."""
    name, *pairs = (part.strip() for part in spec.split(":"))
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key or not text or key in given:
            raise InputError(f"{spec!r}: a spec is NAME:key=value[:key=value], each key once, got {pair!r}")
        given[key] = text
    return name, given


def with_settings(spec: str, changes: Iterable[str]) -> str:
    """A spec with more settings, key=value each; one that it has already is replaced."""
    name, given = split_spec(spec)
    _, more = split_spec(":".join([name, *changes]))
    return ":".join([name, *(f"{key}={text}" for key, text in (given | more).items())])


def read_value(spec: str, key: str, text: str, annotation: Any) -> Any:
    """The value of a setting of a spec."""
    kinds = [kind for kind in kinds_of(annotation) if _can_be_written(kind)]
    value = _metapaths(text) if METAPATHS in kinds and "-" in text else literal(text)
    if not any(is_a(value, kind) for kind in kinds):
        expected = " or ".join(METAPATH_WORDS if kind == METAPATHS else in_words(kind) for kind in kinds)
        raise InputError(f"{spec!r}: {key} takes {expected}, got {text!r}")
    return value


def _can_be_written(kind: Any) -> bool:
    """Whether a spec has a way to write it."""
    base = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return base in (*KIND_WORDS, METAPATHS) or isinstance(kind, str)


def literal(text: str) -> Any:
    """none, true, false, a number (inf is one), or else a word."""
    if text.lower() in LITERALS:
        return LITERALS[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            number = kind(text)
            return text if isinstance(number, float) and math.isnan(number) else number
    return text


def _metapaths(text: str) -> Any:
    """((author, term, author), ...); the text itself if these are no cycles."""
    paths = tuple(tuple(path.split("-")) for path in text.split("+"))
    cycles = all(len(path) > 1 and path[0] == path[-1] and all(path) for path in paths)
    return paths if cycles else text
