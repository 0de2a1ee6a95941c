"""The Cora that comes with PINE: LINQS's cora.cites and cora.content, with the papers' own ids and class names.

The file is made by scripts/embed_cora.py. A citation is listed as (cited, citing); 151 pairs of papers cite each other.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from pine.datasets.arrays import read_npz
from pine.datasets.dataset import Dataset, counts
from pine.datasets.entry import Entry
from pine.graph import NODE, Graph

FILE = "cora.npz"


def build(entry: Entry) -> Dataset:
    """Cora as LINQS lists it; node ids are paper ids, in the order of cora.content."""
    with files("pine.datasets").joinpath(FILE).open("rb") as file:
        arrays = read_npz([(FILE, file)])
    count = entry.nodes[NODE]
    papers = arrays.take("paper_ids", "iu", (count,)).astype(np.int64)
    edges = arrays.edges("edges", count, count, entry.rows["to"])
    return Dataset(
        name=entry.name,
        graph=Graph.from_edges(papers[edges], nodes=papers),
        labels=arrays.classes("labels", count, entry.classes),
        label_names=tuple(np.char.decode(arrays.take("class_names", "S", (entry.classes,)), "ascii").tolist()),
        features=None,
        splits={},
        source=entry.credit,
        raw=counts(count, edges),
    )
