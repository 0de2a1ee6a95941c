"""Settings as dataclass fields: the annotation says what kind of value a field takes and in which range.

    dim: Count = 64            dropout: Chance = 0.4            lam: Positive | tuple[Positive, ...] | None = None

One mechanism checks them, for settings given in Python and in a spec of `pine evaluate`. A field may hold a settings
object of its own (FrozenSettings); its fields are reached as outer__inner, as scikit-learn has it, or by own name.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from pine.errors import InputError, did_you_mean, one_of, quoted


@dataclass(frozen=True)
class Range:
    """Numbers from low to high; which of the two belong to it."""

    low: float
    high: float = math.inf
    with_low: bool = True
    with_high: bool = False

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.with_low else value > self.low
        below = self.high == math.inf or (value <= self.high if self.with_high else value < self.high)
        return bool(above and below)

    @property
    def words(self) -> str:
        """Such as "of at least 0 and below 1"."""
        low = f"of at least {self.low:g}" if self.with_low else f"above {self.low:g}"
        if self.high in (math.inf, LARGEST_INTEGER, LARGEST_SEED):
            return low
        if self.high == sys.float_info.max:
            return f"{low} and finite"
        return f"{low} and {'at most' if self.with_high else 'below'} {self.high:g}"


LARGEST_SEED = 2**1000  # far beyond what secrets.randbits(128) gives, and still written out by Python
LARGEST_INTEGER = 2**63 - 1  # what arrays can count to, and no limit that anyone meets
Count = Annotated[int, Range(1, LARGEST_INTEGER, with_high=True)]
SeedNumber = Annotated[int, Range(0, LARGEST_SEED, with_high=True)]
NonNegativeInt = Annotated[int, Range(0, LARGEST_INTEGER, with_high=True)]
Positive = Annotated[float, Range(0, with_low=False)]  # infinity too
FinitePositive = Annotated[float, Range(0, sys.float_info.max, with_low=False, with_high=True)]
NonNegative = Annotated[float, Range(0)]
Chance = Annotated[float, Range(0, 1)]  # such as dropout: never 1

KIND_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", NoneType: "none"}


def check_settings(owner: type, settings: Mapping[str, Any]) -> None:
    """Each setting must be of a kind, and in a range, that the annotation of its field allows."""
    hints = _hints(owner)
    for name, value in settings.items():
        kinds = kinds_of(hints[name])
        if all(isinstance(kind, str) for kind in kinds):
            one_of(name, value, kinds)
        elif not any(is_a(value, kind) for kind in kinds):
            raise InputError(f"{name} must be {' or '.join(map(in_words, kinds))}, got {quoted(value)}")


def kinds_of(hint: Any) -> list[Any]:
    """What an annotation allows: types, types with a range, and the words of a Literal."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for each in get_args(hint) for kind in kinds_of(each)]
    return list(get_args(hint)) if get_origin(hint) is Literal else [hint]


def is_a(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind: true is no number, a whole number is one, a list or an array may be a tuple."""
    if isinstance(kind, str):
        return bool(value == kind)
    if get_origin(kind) is Annotated:
        base, range = get_args(kind)
        return is_a(value, base) and value in range
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    if get_origin(kind) is tuple:
        items = value.tolist() if isinstance(value, np.ndarray) else value
        return isinstance(items, list | tuple) and all(is_a(item, get_args(kind)[0]) for item in items)
    return isinstance(value, kind)


def in_words(kind: Any, one: bool = True) -> str:
    """A kind in words, for one value or for several."""
    if get_origin(kind) is Annotated:
        base, range = get_args(kind)
        return f"{in_words(base, one)} {range.words}"
    if get_origin(kind) is tuple:
        return ("a tuple of " if one else "tuples of ") + in_words(get_args(kind)[0], one=False)
    name = repr(kind) if isinstance(kind, str) else KIND_WORDS.get(kind, f"a {kind.__name__}")
    return name if one else f"{name.removeprefix('a ')}s"


# ---- settings objects inside settings ----


class FrozenSettings:
    """A base for frozen dataclasses of settings: whatever is outside its field's range is refused when it is made.

    repr (with repr=False in the dataclass) shows the settings that differ from their defaults.
    """

    def __post_init__(self) -> None:
        for name, value in own_settings(self).items():
            if isinstance(value, np.generic):  # as a search over np.arange(...) gives them
                object.__setattr__(self, name, value.item())
        check_settings(type(self), own_settings(self))

    def __repr__(self) -> str:
        changed = [f"{name}={value!r}" for name, value in changed_settings(self).items()]
        return f"{type(self).__name__}({', '.join(changed)})"


def own_settings(owner: Any) -> dict[str, Any]:
    """The fields of a dataclass of settings, settings objects among them."""
    return {field.name: getattr(owner, field.name) for field in dataclasses.fields(owner)}


def changed_settings(owner: Any) -> dict[str, Any]:
    """Those that differ from their defaults."""
    defaults = {field.name: field.default for field in dataclasses.fields(owner)}
    # An array differs, whatever is in it.
    return {name: value for name, value in own_settings(owner).items() if np.any(value != defaults[name])}


def deep_settings(owner: Any) -> dict[str, Any]:
    """The same, and after them the fields of settings objects as outer__inner."""
    nested = {f"{outer}__{inner}": value for outer, inner, value in _nested(owner)}
    return own_settings(owner) | nested


def plain_settings(owner: Any) -> dict[str, Any]:
    """Every setting that is no settings object, by the name that is unique to it."""
    return {name: value for name, value in deep_settings(owner).items() if not dataclasses.is_dataclass(value)}


def change_settings(owner: Any, changes: Mapping[str, Any], what: str) -> None:
    """Set fields by their own names, fields of settings objects as outer__inner or by its own name."""
    for name, value in changes.items():
        outer, inner = find_setting(owner, name, what)
        if inner is None:
            setattr(owner, outer, value)
        else:
            setattr(owner, outer, dataclasses.replace(getattr(owner, outer), **{inner: value}))


def find_setting(owner: Any, name: str, what: str) -> tuple[str, str | None]:
    """Where a setting is: (field, None), or (field of a settings object, its field)."""
    if name in own_settings(owner):
        return name, None
    for outer, inner, _ in _nested(owner):
        if name in (inner, f"{outer}__{inner}"):
            return outer, inner
    known = [*own_settings(owner), *(inner for _, inner, _ in _nested(owner))]
    raise InputError(f"{what} has no setting {name!r}; {did_you_mean(name, known)}")


def annotation_of(owner: Any, name: str, what: str) -> Any:
    """The annotation of a setting, wherever it is."""
    outer, inner = find_setting(owner, name, what)
    holder = owner if inner is None else getattr(owner, outer)
    return _hints(type(holder))[inner or outer]  # type: ignore[arg-type]  # mypy takes instances for it


@cache
def _hints(owner: type) -> dict[str, Any]:
    """Annotations, which take a millisecond to evaluate."""
    return get_type_hints(owner, include_extras=True)


def _nested(owner: Any) -> Iterator[tuple[str, str, Any]]:
    for outer, value in own_settings(owner).items():
        if isinstance(value, FrozenSettings):
            for inner, each in own_settings(value).items():
                yield outer, inner, each
