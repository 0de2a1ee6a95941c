"""Benchmark graphs by name: load("cora") gives a Dataset; CATALOG says what there is."""

from pine.datasets.catalog import CATALOG
from pine.datasets.dataset import Dataset
from pine.datasets.entry import Entry
from pine.datasets.loading import available, how_to_get, load

__all__ = ["CATALOG", "Dataset", "Entry", "available", "how_to_get", "load"]
