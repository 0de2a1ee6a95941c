"""The data sets in our own form, npz files of edges and labels, the Cora inside the package among them."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from pine.datasets.arrays import Arrays, read_npz
from pine.datasets.dataset import Dataset, Labels, counts
from pine.datasets.entry import Entry
from pine.graph import NODE, Graph

CORA_FILE = "cora.npz"
SPLIT_PARTS = ("train", "val", "test")


def build_cora(entry: Entry) -> Dataset:
    """The Cora that comes with PINE, made by scripts/embed_cora.py: LINQS's cora.cites and cora.content.

    Node ids are paper ids, in the order of cora.content. A citation is listed as (cited, citing); 151 pairs of papers
    cite each other.
    """
    with files("pine.datasets").joinpath(CORA_FILE).open("rb") as file:
        arrays = read_npz([(CORA_FILE, file)])
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


def build(entry: Entry, arrays: Arrays) -> Dataset:
    """A graph of one node type; node ids are the numbers in the file, from 0."""
    count = entry.nodes[NODE]
    edges = arrays.edges("edges", count, count, entry.rows["to"])
    public = any(f"{part}_idx" in arrays.values for part in SPLIT_PARTS)
    return Dataset(
        name=entry.name,
        graph=Graph.from_edges(edges, nodes=np.arange(count)),
        labels=_labels(entry, arrays, count),
        label_names=_label_names(entry, arrays),
        features=arrays.features(count) if "feat_shape" in arrays.values else None,
        splits={part: arrays.split(f"{part}_idx", count) for part in SPLIT_PARTS} if public else {},
        source=entry.credit,
        raw=counts(count, edges),
    )


def _labels(entry: Entry, arrays: Arrays, count: int) -> Labels:
    if entry.numbers:
        return arrays.numbers("targets", count)
    take = arrays.label_sets if entry.label_sets else arrays.classes
    return take("labels", count, entry.classes)


def _label_names(entry: Entry, arrays: Arrays) -> tuple[str, ...]:
    """As the file has them, or else the entry."""
    if "label_names" not in arrays.values:
        return entry.label_names
    return tuple(np.char.decode(arrays.take("label_names", "S", (entry.classes,)), "ascii").tolist())


def build_ppi(entry: Entry, arrays: Arrays) -> Dataset:
    """24 graphs of human tissues side by side, whole graphs for training (20), validation (2) and test (2).

    The label columns are the benchmark's 121 GO terms, rebuilt from public annotations: F1 on them compares methods
    with each other, not with published numbers. As in the benchmark itself, most test genes also occur in training.
    The attributes are the benchmark's for 55,687 nodes and rebuilt for the others.
    """
    count = entry.nodes[NODE]
    edges = arrays.edges("edges", count, count, entry.rows["to"])
    graph_ids = arrays.classes("graph_id", count, 24, lowest=0)
    part = arrays.classes("split", count, len(SPLIT_PARTS), lowest=0)
    if (graph_ids[edges[:, 0]] != graph_ids[edges[:, 1]]).any():
        raise arrays.wrong("edges must stay within one graph, got some between two")
    return Dataset(
        name=entry.name,
        graph=Graph.from_edges(edges, nodes=np.arange(count)),
        labels=arrays.label_sets("labels", count, entry.classes),
        label_names=tuple(np.char.decode(arrays.take("label_go_id", "S", (entry.classes,)), "ascii").tolist()),
        features=arrays.features(count),
        splits={name: np.flatnonzero(part == number) for number, name in enumerate(SPLIT_PARTS)},
        source=entry.credit,
        raw=counts(count, edges),
        graph_ids=graph_ids,
    )
