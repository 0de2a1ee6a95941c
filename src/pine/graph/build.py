"""From tables of edges between ids to the parts of a Graph: number the nodes, check, sort the edges into rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pine.errors import InputError, listed, one_of, quoted
from pine.graph.csr import CSR, DUPLICATES, build_csr
from pine.graph.ids.column import is_unicode
from pine.graph.ids.node_ids import NodeIds, ids_from
from pine.graph.ids.numbering import ClosedNumbering, OpenNumbering, UnknownId
from pine.graph.nodes import Relation
from pine.graph.read.table import EdgeTable

SELF_LOOPS = ("drop", "keep")


def build_relations(
    tables: Mapping[Relation, EdgeTable],
    nodes: Mapping[str, Any],
    *,
    directed: bool,
    self_loops: str,
    duplicates: str,
) -> tuple[dict[str, NodeIds], dict[Relation, CSR]]:
    """Number the nodes of every type and build one matrix a relation."""
    one_of("self_loops", self_loops, SELF_LOOPS)
    one_of("duplicates", duplicates, DUPLICATES)
    types = list(dict.fromkeys([*nodes, *(end for source, _, target in tables for end in (source, target))]))
    numberings: dict[str, ClosedNumbering | OpenNumbering] = {
        type: ClosedNumbering(_closed(type, nodes[type])) if type in nodes else OpenNumbering() for type in types
    }
    read = {relation: _read(table, relation, numberings) for relation, table in tables.items()}
    numbered = {type: numberings.pop(type).finish() for type in types}
    # What the reader held is freed by now; Arrow's pool would keep it while the rows are laid out.
    pa.default_memory_pool().release_unused()
    ids = {type: numbered[type][0] for type in types}
    relations = {}
    for relation, (sources, targets, weights) in read.items():
        source, _, target = relation
        joined = np.concatenate(weights) if weights else None
        weights.clear()
        relations[relation] = build_csr(
            _joined(numbered[source][1], sources),
            _joined(numbered[target][1], targets),
            joined,
            (len(ids[source]), len(ids[target])),
            mirror=source == target and not directed,
            drop_loops=source == target and self_loops == "drop",
            duplicates=duplicates,
        )
        check_sum(relation, relations[relation])
    return ids, relations


def check_sum(relation: Relation, matrix: CSR) -> None:
    """Degrees and edges that are added up are float32, as weights are."""
    if matrix.weights is not None and matrix.weights.sum(dtype=np.float64) > np.finfo(np.float32).max:
        raise InputError(f"weights of {'-'.join(relation)} add up to more than 3.4e38; divide them by a large number")


def _read(
    table: EdgeTable, relation: Relation, numberings: Mapping[str, ClosedNumbering | OpenNumbering]
) -> tuple[list[int], list[int], list[NDArray[Any]]]:
    """Number the ids of a relation; returns which columns of its two types hold them, and the weights."""
    source, _, target = relation
    sources, targets, weights = [], [], []
    start = 0
    for batch in table.batches:
        length = len(batch.source)
        try:
            type = source
            if source == target:
                first, second = numberings[source].add(batch.source, batch.target)
            else:
                (first,) = numberings[source].add(batch.source)
                type = target
                (second,) = numberings[target].add(batch.target)
        except UnknownId as unknown:
            raise InputError(
                f"{table.where(start + unknown.row)}: {quoted(unknown.value)} is not among the given nodes of type "
                f"{type!r}; add it there, or leave out `nodes` to take them from the edges"
            ) from None
        sources.append(first)
        targets.append(second)
        if batch.weights is not None:
            weights.append(batch.weights)
        start += length
    return sources, targets, weights


def _joined(parts: list[Any], wanted: Sequence[int]) -> NDArray[Any]:
    """Join some parts, and free them."""
    taken = [parts[i] for i in wanted]
    for i in wanted:
        parts[i] = None
    return taken[0] if len(taken) == 1 else np.concatenate([*taken, np.empty(0, np.int32)])


def _closed(type: str, values: Any) -> NodeIds:
    try:
        return ids_from(values)
    except InputError as problem:
        raise InputError(f"nodes of type {type!r}: {problem}") from None


def checked_data(values: Any, count: int, name: str) -> NDArray[Any]:
    """An array that travels with the nodes: (count, ...)."""
    array = np.array(values)
    if array.shape[:1] != (count,):
        raise InputError(f"{name} must have one entry per node, ({count}, ...), got shape {array.shape}")
    array.flags.writeable = False
    return array


def check_relation(relation: Any) -> Relation:
    """A relation is (source type, name, destination type)."""
    if not (isinstance(relation, tuple) and len(relation) == 3 and all(isinstance(part, str) for part in relation)):
        raise InputError(
            f"a relation is a tuple of strings (source type, name, destination type), got {quoted(relation)}"
        )
    if not all(map(is_unicode, relation)):
        raise InputError(f"the names of a relation must be Unicode text, got {quoted(relation)}")
    return relation


def check_known(what: str, given: Sequence[Any], known: Sequence[Any]) -> None:
    """Every key that a user gave must exist."""
    unknown = [key for key in given if key not in known]
    if unknown:
        raise InputError(f"{what} {quoted(unknown[0])} does not exist; there are {listed(known, 20)}")
