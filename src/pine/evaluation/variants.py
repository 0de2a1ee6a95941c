"""A method as an evaluation names it: NAME, or NAME:key=value[:key=value ...].

Keys are the method's settings, and six that belong to the evaluation:

    paper=one-type|typed    the settings of PINE.paper(), for graphs of one node type or of several
    labels=off              fit a method that can do without labels without them; its vectors go to logistic regression
    spread=ALPHA            predictions spread along edges (pine.propagation)
    types=off               the nodes of all types as one type: K = 1
    share=auto              a share of its predictions is the propagated labels: PINE's part, given to other methods
                            (pine.evaluation.label_share)
    on=METHOD               the vectors of another method, as node features: gcn:on=propagation

Metapaths are written author-term-author, and several with a plus: author-term-author+author-author.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pine._internal.settings import annotation_of, plain_settings
from pine.baselines.gnn.method import GNN
from pine.embedder import Embedder
from pine.errors import InputError, listed
from pine.evaluation.specs import literal, read_value, split_spec
from pine.methods import method_class
from pine.model.pine import PINE
from pine.propagation import check_spread

EVALUATION_KEYS = ("paper", "labels", "spread", "types", "share", "on")
PAPER_SETTINGS = {"one-type": False, "typed": True}  # whether those of typed graphs


@dataclass(frozen=True)
class Variant:
    """A method with settings; name is its spec, and what tables and JSON call it."""

    name: str
    method: type[Embedder]
    settings: dict[str, Any] = field(default_factory=dict)
    labels: bool = True
    types: bool = True
    spread: float = 0.0
    share: bool = False
    on: str = ""

    @property
    def predicts(self) -> bool:
        """Whether it is scored by its own predictions; otherwise by logistic regression on its vectors."""
        return self.method.supervised and self.labels

    def new(self, seed: int) -> Embedder:
        """The method with its settings, not yet fitted."""
        return self.method().set_params(**self.settings, seed=seed)

    def shares_fit(self, other: Variant) -> bool:
        """Whether one fit serves both: they differ in what is done with its predictions only."""
        return self._fit() == other._fit()

    def _fit(self) -> Variant:
        return replace(self, name="", spread=0.0, share=False)


def variants_of(methods: Mapping[str, type[Embedder]] | Sequence[str | Variant]) -> list[Variant]:
    """Variants from what callers have: {name: class}, specs, or variants."""
    if isinstance(methods, Mapping):
        return [Variant(name, method) for name, method in methods.items()]
    return [each if isinstance(each, Variant) else parse(each) for each in methods]


def sharing_fits(variants: Sequence[Variant]) -> list[list[Variant]]:
    """The variants in groups of those that one fit serves, in order of first appearance."""
    groups: list[list[Variant]] = []
    for variant in variants:
        group = next((group for group in groups if group[0].shares_fit(variant)), None)
        if group is None:
            groups.append([variant])
        else:
            group.append(variant)
    return groups


def parse(spec: str) -> Variant:
    """Read a spec such as pine:lam=inf:spread=0.5."""
    name, given = split_spec(spec)
    method = method_class(name)
    variant = Variant(
        spec,
        method,
        _paper(spec, method, given.get("paper"))
        | {key: _setting(spec, method, key, text) for key, text in given.items() if key not in EVALUATION_KEYS},
        labels=_switch(spec, given, "labels"),
        types=_switch(spec, given, "types"),
        spread=_spread(spec, given.get("spread")),
        share=_share(spec, given.get("share")),
        on=given.get("on", ""),
    )
    _check(variant)
    return variant


def _check(variant: Variant) -> None:
    method = variant.method
    if not variant.labels and not method.supervised:
        raise InputError(f"{variant.name!r}: {method.name} never sees labels; leave labels=off out")
    if not variant.labels and method.needs_labels:
        raise InputError(f"{variant.name!r}: {method.name} learns from labels and cannot do without them")
    if variant.spread > 0 and not variant.predicts:
        raise InputError(f"{variant.name!r}: there are no predictions of its own to spread; leave spread= out")
    if variant.share and "label_share" in method().get_params():
        raise InputError(f"{variant.name!r}: {method.name} has a share of its own; leave share= out")
    if variant.share and variant.spread > 0:
        raise InputError(f"{variant.name!r}: predictions are spread, or mixed with propagated labels; leave one out")
    if variant.on and not issubclass(method, GNN):
        raise InputError(f"{variant.name!r}: {method.name} takes no vectors as features; leave on= out")
    if variant.on and method_class(variant.on).supervised:
        raise InputError(f"{variant.name!r}: on takes a method that learns vectors without labels, got {variant.on!r}")


def _paper(spec: str, method: type[Embedder], text: str | None) -> dict[str, Any]:
    """The settings as printed in the paper, with paper=."""
    if text is None:
        return {}
    if not issubclass(method, PINE):
        raise InputError(f"{spec!r}: the paper's settings are {method.name}'s defaults; leave paper= out")
    if text not in PAPER_SETTINGS:
        raise InputError(f"{spec!r}: paper takes {listed(PAPER_SETTINGS)}, got {text!r}")
    settings = plain_settings(method.paper(typed=PAPER_SETTINGS[text]))
    del settings["seed"]
    return settings


def _setting(spec: str, method: type[Embedder], key: str, text: str) -> Any:
    try:
        annotation = annotation_of(method(), key, method.name)
    except InputError as problem:
        raise InputError(f"{spec!r}: {problem}, and evaluation has {listed(EVALUATION_KEYS)}") from None
    if key == "seed":
        raise InputError(f"{spec!r}: the seed is the number of the repeat; leave seed= out")
    return read_value(spec, key, text, annotation)


def _switch(spec: str, given: Mapping[str, str], key: str) -> bool:
    if given.get(key, "on") not in ("on", "off"):
        raise InputError(f"{spec!r}: {key} takes on or off, got {given[key]!r}")
    return given.get(key) != "off"


def _share(spec: str, text: str | None) -> bool:
    if text not in (None, "auto"):
        raise InputError(f"{spec!r}: share takes auto, got {text!r}")
    return text is not None


def _spread(spec: str, text: str | None) -> float:
    try:
        return check_spread(0.0 if text is None else literal(text))
    except InputError as problem:
        raise InputError(f"{spec!r}: {problem}") from None
