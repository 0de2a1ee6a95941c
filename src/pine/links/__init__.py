"""Link prediction: edges held out, scores of pairs of nodes, and how good they are."""

from pine.links.scorers import SCORERS, LinkModel, PairVectors, scorer
from pine.links.split import LinkSplit, hold_out, hold_out_latest

__all__ = ["SCORERS", "LinkModel", "LinkSplit", "PairVectors", "hold_out", "hold_out_latest", "scorer"]
