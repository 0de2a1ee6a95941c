"""A method as the evaluation of links names it: NAME[:score=SCORE][:key=value ...].

NAME is a method of pine.METHODS that learns without labels, a heuristic (pine.links.heuristics), or "heuristics": the
combined score without vectors. SCORE is one of pine.links.SCORERS, or auto: the best of dot, cosine and bilinear on the
validation edges. PINE's default is combined, that of gae is dot, and other methods' is auto.
"""

from __future__ import annotations

from dataclasses import dataclass

from pine.errors import InputError, did_you_mean, listed
from pine.evaluation.specs import split_spec
from pine.evaluation.variants import Variant, parse
from pine.links.heuristics import HEURISTICS
from pine.links.scorers import SCORERS
from pine.methods import METHODS

COMBINED_HEURISTICS = "heuristics"
AUTO_SCORES = ("dot", "cosine", "bilinear")  # of which auto takes the best on validation edges
OWN_SCORES = {"pine": "combined", "gae": "dot"}  # what a method is scored by; gae was trained for it


@dataclass(frozen=True)
class LinkSpec:
    """name is its spec; variant: the method that makes vectors, None for heuristics."""

    name: str
    score: str
    variant: Variant | None = None

    @property
    def fit_key(self) -> str:
        """What specs have in common that one fit serves."""
        return self.name if self.variant is None else self.variant.name


def parse_link_spec(spec: str) -> LinkSpec:
    """Read a spec such as pine:score=cosine or deepwalk:walks=10."""
    name, given = split_spec(spec)
    if name in HEURISTICS or name == COMBINED_HEURISTICS:
        if given:
            raise InputError(f"{spec!r}: {name} has no settings; leave {listed(given)} out")
        return LinkSpec(spec, name)
    if name not in METHODS and name not in {old for each in METHODS.values() for old in each.former_names}:
        known = [*METHODS, *HEURISTICS, COMBINED_HEURISTICS]
        raise InputError(f"unknown method {name!r}; {did_you_mean(name, known)}")
    score = given.pop("score", OWN_SCORES.get(name, "auto"))
    if score != "auto" and score not in SCORERS:
        raise InputError(f"{spec!r}: score takes auto or one of {listed(SCORERS)}, got {score!r}")
    if score == "f" and name != "pine":
        raise InputError(f"{spec!r}: {name} has no function f; score takes auto, dot, cosine, bilinear or combined")
    variant = parse(":".join([name, *(f"{key}={text}" for key, text in given.items())]))
    if variant.method.supervised and variant.method.needs_labels:
        raise InputError(f"{spec!r}: {name} learns from labels, and links are predicted without; leave it out")
    if not variant.types or variant.spread or variant.share or variant.on:
        raise InputError(f"{spec!r}: types, spread, share and on are of predicted labels; leave them out")
    return LinkSpec(spec, score, variant)
