"""Benchmark graphs by name: load("cora") gives a Dataset; CATALOG says what there is."""

from pine.datasets.catalog import CATALOG
from pine.datasets.dataset import Dataset
from pine.datasets.entry import Entry
from pine.datasets.loading import available, how_to_get, load
from pine.datasets.planted import planted_classes

__all__ = ["CATALOG", "Dataset", "Entry", "available", "how_to_get", "load", "planted_classes"]
