"""The kinds of experiments: one file a kind, and KINDS."""

from pine.reproduce.kinds.approximation import Approximations
from pine.reproduce.kinds.inductive import InductiveScores
from pine.reproduce.kinds.kind import Kind
from pine.reproduce.kinds.links import LinkScores
from pine.reproduce.kinds.maps import Maps
from pine.reproduce.kinds.scores import Scores

KINDS: dict[str, Kind] = {
    "scores": Scores(),
    "maps": Maps(),
    "approximation": Approximations(),
    "inductive": InductiveScores(),
    "links": LinkScores(),
}

__all__ = ["KINDS", "Kind"]
