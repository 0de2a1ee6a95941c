"""Graphs of several node types in our own form: arrays named edges_SOURCE_RELATION_TARGET and labels_TYPE.

Beside them there may be weight_SOURCE_RELATION_TARGET and the features of a type, feat_TYPE_shape and so on. Node ids
are the numbers in the file, from 0 in every type.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pine.datasets.arrays import Arrays
from pine.datasets.dataset import Dataset, typed_counts
from pine.datasets.entry import Entry
from pine.errors import listed
from pine.graph import Graph
from pine.graph.nodes import Relation


def array_name(kind: str, relation: Relation) -> str:
    """The name of an array that belongs to a relation: edges_paper_about_subject."""
    return "_".join((kind, *relation))


def build(entry: Entry, arrays: Arrays) -> Dataset:
    """The graph with the node types and relations of the entry; labels and features of the types that have them."""
    edges = _edges(entry, arrays)
    weight_names = {relation: array_name("weight", relation) for relation in edges}
    graph = Graph.from_relations(
        edges,
        nodes={type: np.arange(count) for type, count in entry.nodes.items()},
        weights={
            relation: arrays.weights(name, len(edges[relation]))
            for relation, name in weight_names.items()
            if name in arrays.values
        },
    )
    labeled = [type for type in entry.nodes if f"labels_{type}" in arrays.values]
    if not labeled:
        raise arrays.wrong(f"must hold an array labels_TYPE of one of the types {listed(entry.nodes)}")
    take = arrays.label_sets if entry.label_sets else arrays.classes
    return Dataset(
        name=entry.name,
        graph=graph,
        labels={type: take(f"labels_{type}", entry.nodes[type], entry.classes) for type in labeled},
        label_names=entry.label_names,
        features={
            type: arrays.features(count, f"feat_{type}")
            for type, count in entry.nodes.items()
            if f"feat_{type}_shape" in arrays.values
        }
        or None,
        splits={},
        source=entry.credit,
        raw=typed_counts(entry.nodes, edges),
    )


def _edges(entry: Entry, arrays: Arrays) -> dict[Relation, NDArray[np.int64]]:
    """The edges of every relation, in the order of the entry; their names say which types they join."""
    found = [tuple(name.split("_")[1:]) for name in arrays.values if name.startswith("edges_")]
    relations = {name[1]: name for name in found if len(name) == 3 and {name[0], name[2]} <= entry.nodes.keys()}
    if relations.keys() != entry.edges.keys():
        raise arrays.wrong(f"must hold edges of the relations {listed(entry.edges)}, got {listed(relations) or 'none'}")
    ordered = [relations[name] for name in entry.edges]
    return {
        (source, name, target): arrays.edges(
            array_name("edges", (source, name, target)), entry.nodes[source], entry.nodes[target], entry.rows[name]
        )
        for source, name, target in ordered
    }
