"""Files of labels, a node id and a label a line, as the labels that fit takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pine.errors import InputError
from pine.graph import Graph
from pine.graph.ids.column import column
from pine.graph.read.dialect import sniff
from pine.graph.read.text import read_columns


def read_label_file(path: Path, graph: Graph, type: str | None = None) -> dict[Any, Any]:
    """{id: label}, or {type: {id: label}} for a typed graph; an id on several lines has a set of labels."""
    type = graph.nodes.check_type(type)
    text = sniff(path)
    found: dict[Any, list[str]] = {}
    row = 0
    known = graph.nodes.of(type)
    for ids, names in read_columns(text, [0], text=[1]):
        nodes = ids.objects() if known.kind != "str" else [str(node) for node in ids.objects()]
        positions = known.find(column(nodes))
        for position, node, name in zip(positions.tolist(), nodes, names, strict=True):
            if position < 0:
                raise InputError(f"{text.where(row)}: there is no node {node!r} of type {type!r} in the graph")
            if not name:
                raise InputError(f"{text.where(row)}: the label is empty; leave out nodes without a label")
            found.setdefault(node, []).append(name)
            row += 1
    sets = any(len(set(names)) > 1 for names in found.values())
    labels = {node: set(names) if sets else names[0] for node, names in found.items()}
    return labels if len(graph.node_types) == 1 else {type: labels}
