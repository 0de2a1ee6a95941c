"""Pairs of nodes as users give them: by ids, of the types that a relation joins."""

from __future__ import annotations

from typing import Any

import numpy as np

from pine.errors import InputError, quoted
from pine.graph.nodes import Nodes, Relation
from pine.links.pairs import Pairs


def pairs_by_id(nodes: Nodes, pairs: Any, relation: Relation | None = None) -> Pairs:
    """(count, 2) numbers over all types; relation: whose types the two columns are of, where there are several."""
    types = _types(nodes, relation)
    first, second = _columns_of(pairs)
    found = []
    for ids, type in ((first, types[0]), (second, types[1])):
        _, positions = nodes.find(ids, type)
        found.append(positions + nodes.slice(type).start)
    made = np.column_stack(found).astype(np.int64)
    alone = np.flatnonzero(made[:, 0] == made[:, 1])
    if len(alone):
        raise InputError(f"pair {int(alone[0])} is one node twice; a pair is two nodes")
    return made


def _types(nodes: Nodes, relation: Relation | None) -> tuple[str, str]:
    if relation is None:
        only = nodes.check_type(None) if len(nodes.types) == 1 else None
        if only is None:
            raise InputError(
                f"there are the node types {', '.join(nodes.types)}; say of which a pair is: "
                "relation=(source type, name, destination type)"
            )
        return only, only
    if not (isinstance(relation, tuple) and len(relation) == 3):
        raise InputError(f"relation must be (source type, name, destination type), got {quoted(relation)}")
    return nodes.check_type(relation[0]), nodes.check_type(relation[2])


def _columns_of(pairs: Any) -> tuple[Any, Any]:
    """The first and the second ids of pairs."""
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"pairs must have the shape (num_pairs, 2), got {pairs.shape}")
        return pairs[:, 0], pairs[:, 1]
    try:
        listed_pairs = list(pairs)
    except TypeError:
        raise InputError(f"pairs must be a list or array of pairs of ids, got {quoted(pairs)}") from None
    for row, pair in enumerate(listed_pairs):
        if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError(f"pairs, row {row}: expected two ids, got {quoted(pair)}")
    if not listed_pairs:
        return [], []
    first, second = zip(*listed_pairs, strict=True)
    return list(first), list(second)
