"""The nodes of every type with the users' ids, numbered type after type; the names of types and relations."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, listed, quoted
from pine.graph.ids.column import column
from pine.graph.ids.node_ids import NodeIds, ids_from

Relation = tuple[str, str, str]  # source type, name, destination type

NODE = "node"  # the node type of a graph without types
NAMES_COMPARED = 10_000  # at most, to find one that is alike
EDGE: Relation = (NODE, "to", NODE)  # its relation


class Nodes:
    """Immutable. A position counts within a type; slice says where a type stands among all nodes."""

    def __init__(self, ids: Mapping[str, NodeIds]) -> None:
        self.by_type: Mapping[str, NodeIds] = MappingProxyType(dict(ids))

    def __reduce__(self) -> Any:  # a mapping that cannot be changed cannot be pickled either
        return Nodes, (dict(self.by_type),)

    def __len__(self) -> int:
        return sum(map(len, self.by_type.values()))

    @property
    def types(self) -> tuple[str, ...]:
        """The node types, in order."""
        return tuple(self.by_type)

    @property
    def nbytes(self) -> int:
        """Size of the ids in memory."""
        return sum(ids.nbytes for ids in self.by_type.values())

    def of(self, type: str | None = None) -> NodeIds:
        """The ids of a type; without one, of the only type there is."""
        return self.by_type[self.check_type(type)]

    def slice(self, type: str | None = None) -> slice:
        """Where the nodes of a type stand in the numbering over all types."""
        type = self.check_type(type)
        start = sum(len(self.by_type[before]) for before in self.types[: self.types.index(type)])
        return slice(start, start + len(self.by_type[type]))

    def split_by_type(self, rows: NDArray[Any]) -> Any:
        """Rows over all nodes, as users hold them: the array itself, or {type: array} where there are types."""
        return rows if self.types == (NODE,) else {type: rows[self.slice(type)] for type in self.types}

    def id_at(self, number: int) -> Any:
        """The id of the node with a number that counts over all types."""
        for ids in self.by_type.values():
            if number < len(ids):
                return ids[number]
            number -= len(ids)
        raise IndexError(number)

    def find(self, nodes: Any, type: str | None = None) -> tuple[str, NDArray[np.int64]]:
        """The type of nodes given by id, and their positions in it; without a type, the one that has them all."""
        wanted = column(nodes)
        if type is None and len(self.by_type) > 1:
            types = [each for each, ids in self.by_type.items() if (ids.find(wanted) >= 0).all()]
            if len(types) > 1:
                raise InputError(f"{listed(wanted.objects())}: found in the types {listed(types)}; say which: type=...")
            if not types:
                near = self._near(wanted[0], self.types) if len(wanted) == 1 else ""
                raise InputError(f"there are no nodes {listed(wanted.objects())} of one type here{near}")
            type = types[0]
        type = self.check_type(type)
        positions = self.by_type[type].find(wanted)
        if (positions < 0).any():
            missing = wanted[int(np.flatnonzero(positions < 0)[0])]
            raise InputError(f"there is no node {quoted(missing)} of type {type!r} here{self._near(missing, [type])}")
        return type, positions

    def _near(self, name: Any, types: Sequence[str]) -> str:
        """The id that may be meant by one that does not exist, among texts that are few enough to look at."""
        texts = [ids for type in types if (ids := self.by_type[type]).kind == "str"]
        if not isinstance(name, str) or sum(map(len, texts)) > NAMES_COMPARED:
            return ""
        near = difflib.get_close_matches(name, [each for ids in texts for each in ids.to_list()], n=1)
        return f"; did you mean {near[0]!r}?" if near else ""

    def check_type(self, type: str | None) -> str:
        """The given type if it exists; without one, the only type there is."""
        if type is None:
            if len(self.by_type) > 1:
                raise InputError(f"there are the node types {listed(self.by_type)}; say which: type=...")
            return next(iter(self.by_type))
        if not isinstance(type, str) or type not in self.by_type:
            raise InputError(f"node type {quoted(type)} does not exist; there are {listed(self.by_type)}")
        return type

    def equals(self, others: Nodes) -> bool:
        """Whether both are the same ids of the same types, in the same order."""
        return self is others or (
            self.types == others.types
            and all(
                np.array_equal(others.of(type).find(self.of(type).as_column()), np.arange(len(others.of(type))))
                for type in self.types
            )
        )

    def renamed(self, ids: Mapping[str, Any]) -> Nodes:
        """The same nodes with other ids, in node order: {type: ids}."""
        renamed = dict(self.by_type)
        for type, values in ids.items():
            renamed[self.check_type(type)] = given = ids_from(values)
            if len(given) != len(self.by_type[type]):
                known = len(self.by_type[type])
                raise InputError(f"ids of type {type!r} must have one entry per node, {known}, got {len(given)}")
        return Nodes(renamed)
