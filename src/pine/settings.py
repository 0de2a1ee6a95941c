"""What a setting may be, as the annotation of its field says: for settings given in Python, and for those in a spec."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from pine.errors import InputError, one_of

SAID = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", NoneType: "none"}


def check_kinds(owner: type, settings: Mapping[str, Any]) -> None:
    """Each setting must be of a kind that its field allows; whether it is in range, its owner says."""
    hints = get_type_hints(owner)
    for name, value in settings.items():
        kinds = kinds_of(hints[name])
        if all(isinstance(kind, str) for kind in kinds):
            one_of(name, value, kinds)
        elif not any(is_a(value, kind) for kind in kinds):
            raise InputError(f"{name} must be {' or '.join(map(said, kinds))}, got {value!r}")


def kinds_of(hint: Any) -> list[Any]:
    """What an annotation allows: types, and the words of a Literal."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for each in get_args(hint) for kind in kinds_of(each)]
    return list(get_args(hint)) if get_origin(hint) is Literal else [hint]


def is_a(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind: true is no number, a whole number is one, a list or an array may be a tuple."""
    if isinstance(kind, str):
        return bool(value == kind)
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    if get_origin(kind) is tuple:
        items = value.tolist() if isinstance(value, np.ndarray) else value
        return isinstance(items, list | tuple) and all(is_a(item, get_args(kind)[0]) for item in items)
    return isinstance(value, kind)


def said(kind: Any, one: bool = True) -> str:
    """A kind in words, for one value or for several."""
    if get_origin(kind) is tuple:
        return ("a tuple of " if one else "tuples of ") + said(get_args(kind)[0], one=False)
    name = repr(kind) if isinstance(kind, str) else SAID.get(kind, f"a {kind.__name__}")
    return name if one else f"{name.removeprefix('a ')}s"
