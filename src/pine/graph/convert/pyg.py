"""Between Graph and PyTorch Geometric: x is features, edge_weight is weights, y and other masks are node_data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph.convert.dropped import warn_of_dropped
from pine.graph.csr import CSR
from pine.graph.nodes import EDGE, NODE, Nodes, Relation


def relations_from_pyg(
    data: Any, *, directed: bool | None = None, **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of Graph.from_relations for Data or HeteroData, with nodes numbered from 0; {type: their own ids}.

    x, edge_index, edge_weight, y, masks and any other tensor with a row per node are taken. A store's `id` gives the
    nodes' ids, 0..n-1 without it; its `feature_mask` says which rows of x are known. directed None: undirected if every
    edge has its mirror. Attributes with a row per edge, edge_attr and others, are named in a warning.
    """
    hetero = hasattr(data, "node_types")
    if not hetero and not hasattr(data, "edge_index"):
        raise InputError(f"from_pyg takes torch_geometric.data.Data or HeteroData, got {type(data).__name__}")
    stores = {kind: data[kind] for kind in data.node_types} if hetero else {NODE: data}
    links: dict[Relation, Any] = {tuple(key): data[key] for key in data.edge_types} if hetero else {EDGE: data}
    if directed is None:
        # HeteroData lists the reverse of a relation as a relation of its own, if at all.
        directed = not (hetero or (data.edge_index is not None and data.is_undirected()))
    nodes: dict[str, Any] = {}
    features: dict[str, Any] = {}
    known: dict[str, Any] = {}
    node_data: dict[str, dict[str, Any]] = {}
    for kind, store in stores.items():
        count = store.num_nodes
        if count is None:
            raise InputError(f"the number of nodes of type {kind!r} is not known; set num_nodes or x")
        given = store["id"] if "id" in store else np.arange(count)
        nodes[kind] = given if isinstance(given, list) else np.asarray(given)
        arrays = {key: _array(value) for key, value in store.items() if _per_node(key, value, count)}
        if "x" in arrays:
            features[kind] = arrays.pop("x")
            known[kind] = arrays.pop("feature_mask", None)
        if arrays:
            node_data[kind] = arrays
    edges: dict[Relation, Any] = {}
    weights: dict[Relation, Any] = {}
    dropped: set[str] = set()
    for key, store in links.items():
        index = np.zeros((2, 0), np.int64) if store.get("edge_index") is None else _array(store.edge_index)
        positions = index.T.astype(np.int64)
        for end, kind in ((0, key[0]), (1, key[2])):
            count = len(nodes[kind])
            if len(positions) and not (positions[:, end].min() >= 0 and positions[:, end].max() < count):
                raise InputError(f"edge_index of {'-'.join(key)} points outside the {count} nodes of type {kind!r}")
        edges[key] = positions
        taken = {"edge_index", "edge_weight"}
        if not hetero:
            taken |= {"x", "feature_mask", "id", *node_data.get(NODE, {})}
        rest = {str(name): value for name, value in store.items() if name not in taken}
        dropped |= {name for name, value in rest.items() if _per_edge(name, value, len(positions))}
        weights[key] = _array(store.edge_weight) if store.get("edge_weight") is not None else None
    warn_of_dropped("from_pyg", dropped)
    arguments = dict(
        relations=edges,
        nodes={kind: np.arange(len(ids)) for kind, ids in nodes.items()},
        weights=weights,
        features=features,
        feature_mask=known,
        node_data=node_data,
        directed=directed,
        **options,
    )
    return arguments, nodes


def _per_node(key: str, value: Any, count: int) -> bool:
    if key in ("edge_index", "edge_weight", "edge_attr", "id", "adj_t"):
        return False
    shape = tuple(getattr(value, "shape", ()))
    return shape[:1] == (count,)


def _per_edge(key: str, value: Any, count: int) -> bool:
    """Whether an attribute has a row per edge: by its name, as PyG has it, or by its shape."""
    return key.startswith("edge_") or (count > 0 and _per_node(key, value, count))


def _array(value: Any) -> Any:
    """A NumPy array or CSR matrix from a tensor."""
    if getattr(value, "is_sparse", False) or "sparse" in str(getattr(value, "layout", "")):
        coo = value.detach().cpu().to_sparse_coo().coalesce()
        return sp.csr_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(coo.shape))
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)


def to_pyg(
    nodes: Nodes,
    relations: Mapping[Relation, CSR],
    features: Mapping[str, Any],
    feature_mask: Mapping[str, Any],
    node_data: Mapping[str, Mapping[str, NDArray[Any]]],
) -> Any:
    """Give Data, or HeteroData for a typed graph; ids other than 0..n-1 are kept as `id`.

    Undirected edges are listed both ways between nodes of one type, and once between two types.
    """
    try:
        import torch
        from torch_geometric.data import Data, HeteroData
    except ImportError:
        raise InputError("to_pyg needs PyTorch Geometric: pip install 'pine-embedding[pyg]'") from None
    typed = nodes.types != (NODE,)
    data = HeteroData() if typed else Data()
    for kind, ids in nodes.by_type.items():
        store = data[kind] if typed else data
        store.num_nodes = len(ids)
        if ids.kind != "int":
            store["id"] = ids.to_list()
        elif not ids.is_range:
            store["id"] = torch.tensor(ids.values)
        if kind in features:
            x = features[kind]
            if sp.issparse(x):
                indptr, indices, values = map(torch.tensor, (x.indptr, x.indices, x.data))
                store.x = torch.sparse_csr_tensor(indptr, indices, values, size=x.shape)
            else:
                store.x = torch.tensor(x)
            if kind in feature_mask:
                store["feature_mask"] = torch.tensor(feature_mask[kind])
        for name, array in node_data.get(kind, {}).items():
            store[name] = torch.tensor(array)
    for relation, matrix in relations.items():
        store = data[relation] if typed else data
        store.edge_index = torch.tensor(np.stack([matrix.rows(), matrix.indices]).astype(np.int64))
        if matrix.weights is not None:
            store.edge_weight = torch.tensor(matrix.weights)
    return data
