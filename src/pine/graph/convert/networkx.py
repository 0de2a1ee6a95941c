"""Between Graph and NetworkX: node attributes carry types and features, edge attributes carry relations and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from pine.errors import InputError, quoted
from pine.graph.convert.dropped import warn_of_dropped
from pine.graph.csr import CSR
from pine.graph.nodes import EDGE, NODE, Nodes, Relation

if TYPE_CHECKING:
    import networkx


def relations_from_networkx(
    graph: networkx.Graph,
    *,
    type: str | None = "type",
    relation: str | None = "relation",
    weight: str | None = "weight",
    features: str | None = "features",
    directed: bool | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The arguments of Graph.from_relations for a NetworkX graph, with its node order and ids.

    type, relation, weight and features name the attributes to read; an attribute that no node or edge has is left
    alone, edge attributes that are not read are named in a warning, and features that some nodes of a type lack are not
    known there. A node attribute "id" of a typed graph is
    the node's id. directed None takes what the NetworkX graph is; parallel edges of a multigraph are kept unless
    duplicates says otherwise.
    """
    if not hasattr(graph, "is_directed") or not hasattr(graph, "adj"):
        raise InputError(f"from_networkx takes a NetworkX graph, got {graph.__class__.__name__}")
    nodes = list(graph.nodes(data=True))
    if not nodes:
        raise InputError("the NetworkX graph has no nodes")
    typed = type is not None and any(type in data for _, data in nodes)
    typed_ids: dict[Any, tuple[str, Any]] = {}
    for node, data in nodes:
        if typed and type not in data:
            raise InputError(
                f"node {quoted(node)} lacks the attribute {type!r} that other nodes have; give every node a type"
            )
        typed_ids[node] = (str(data[type]), data.get("id", node)) if typed else (NODE, node)
    ids: dict[str, list[Any]] = {}
    for kind, node in typed_ids.values():
        ids.setdefault(kind, []).append(node)

    edges: dict[Relation, list[tuple[Any, Any]]] = {} if typed else {EDGE: []}
    weights: dict[Relation, list[Any]] = {}
    # What is turned off with None is left out knowingly.
    read, dropped = {relation or "relation", weight or "weight"}, set[str]()
    for source, target, data in graph.edges(data=True):
        (source_type, source_id), (target_type, target_id) = typed_ids[source], typed_ids[target]
        name = str(data[relation]) if relation is not None and relation in data else EDGE[1]
        key = (source_type, name, target_type)
        # An undirected graph does not say which end comes first: both orders are one relation.
        if not graph.is_directed() and key not in edges and key[::-1] in edges:
            key, source_id, target_id = (target_type, name, source_type), target_id, source_id
        edges.setdefault(key, []).append((source_id, target_id))
        weights.setdefault(key, []).append(data.get(weight))
        dropped |= {str(each) for each in data if each not in read}
    warn_of_dropped("from_networkx", dropped)
    rows, known = _features(nodes, typed_ids, features)
    if graph.is_multigraph():
        options.setdefault("duplicates", "keep")
    return dict(
        relations=edges,
        nodes=ids,
        weights={key: _weights(weights.get(key, [])) for key in edges},
        features=rows,
        feature_mask=known,
        directed=graph.is_directed() if directed is None else directed,
        **options,
    )


def _weights(given: list[Any]) -> list[Any] | None:
    """The weights of a relation, 1 where an edge has none; None where no edge has one."""
    if all(weight is None for weight in given):
        return None
    return [1.0 if weight is None else weight for weight in given]


def _features(
    nodes: Any, typed_ids: dict[Any, tuple[str, Any]], name: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """{type: rows}, {type: which nodes have them}."""
    given: dict[str, list[Any]] = {}
    for node, data in nodes:
        given.setdefault(typed_ids[node][0], []).append(None if name is None else data.get(name))
    rows, known = {}, {}
    for kind, values in given.items():
        mask = np.array([value is not None for value in values])
        lengths = {np.size(value) for value in values if value is not None}
        if len(lengths) > 1:
            raise InputError(f"nodes of type {kind!r} need {name!r} of one length, got the lengths {sorted(lengths)}")
        if lengths:
            missing = np.zeros(max(lengths), np.float32)
            rows[kind] = np.array([missing if value is None else np.ravel(value) for value in values])
            known[kind] = mask
    return rows, known


def to_networkx(
    nodes: Nodes,
    relations: Mapping[Relation, CSR],
    features: Mapping[str, Any],
    feature_mask: Mapping[str, Any],
    directed: bool,
) -> networkx.Graph:
    """Give a NetworkX graph; nodes of a typed graph carry "type" and "id", edges "relation".

    A node is its own id; where one id occurs in several types, it is the pair (type, id).
    """
    try:
        import networkx as nx
    except ImportError:
        raise InputError("to_networkx needs NetworkX: pip install networkx") from None
    typed = nodes.types != (NODE,)
    ids = {type: own.to_list() for type, own in nodes.by_type.items()}
    everything = [node for own in ids.values() for node in own]
    shared = len(set(everything)) < len(everything)
    keys = {type: [(type, node) for node in own] if shared else own for type, own in ids.items()}
    multi = len(relations) > 1 or any(_has_parallel(matrix) for matrix in relations.values())
    kinds = (nx.DiGraph, nx.MultiDiGraph) if directed else (nx.Graph, nx.MultiGraph)
    result = kinds[multi]()
    for type in nodes.types:
        result.add_nodes_from(keys[type])
        for key, node in zip(keys[type] if typed else (), ids[type], strict=False):
            result.nodes[key].update(type=type, id=node)
        if type in features:
            dense = features[type].toarray() if sp.issparse(features[type]) else features[type]
            known = feature_mask.get(type, np.ones(len(dense), bool))
            for i in np.flatnonzero(known):
                result.nodes[keys[type][i]]["features"] = dense[i]
    for (source, name, target), matrix in relations.items():
        rows, columns = matrix.rows(), matrix.indices
        once = np.ones(len(rows), bool) if directed or source != target else rows <= columns
        values = np.ones(len(rows), np.float32) if matrix.weights is None else matrix.weights
        for i, j, value in zip(rows[once].tolist(), columns[once].tolist(), values[once].tolist(), strict=True):
            data: dict[str, Any] = {"relation": name} if typed else {}
            if matrix.weights is not None:
                data["weight"] = value
            result.add_edge(keys[source][i], keys[target][j], **data)
    return result


def _has_parallel(matrix: CSR) -> bool:
    same_row = np.diff(matrix.rows()) == 0
    return bool((same_row & (np.diff(matrix.indices) == 0)).any())
