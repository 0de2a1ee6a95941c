"""Vectors of nodes and what can be asked of them: by id, as a frame, the most similar ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from pine.errors import InputError, one_of
from pine.graph import NODE
from pine.graph.nodes import Nodes
from pine.similarity import (
    INDEXES,
    ExactNeighbors,
    NearestVectors,
    check_k,
    check_queries,
    nearest_without,
    unit_rows,
)

if TYPE_CHECKING:
    import pandas

Similar = list[tuple[Any, float]]


class NodeVectors(ABC):
    """Answers for nodes_ by their vectors."""

    nodes_: Nodes

    @property
    @abstractmethod
    def _vectors(self) -> NDArray[np.float32]:
        """Of all nodes, type after type: (num_nodes, dim)."""

    @property
    def embedding_(self) -> Any:
        """Vectors in node order: (num_nodes, dim) float32; for a typed graph {type: array}."""
        vectors = self._vectors
        return self.nodes_.split_by_type(vectors)

    def vectors(self, ids: Any, type: str | None = None) -> NDArray[np.float32]:
        """Vectors of nodes given by their ids: (len(ids), dim), or (dim,) for one id.

        ids: a list or array of ids, or one id: a number, a text, or a tuple that is an id of a node.
        type: the nodes' type, where the ids alone do not tell.
        """
        vectors, (several, one) = self._vectors, self._listed(ids)
        type, positions = self.nodes_.find(several, type)
        found = vectors[self.nodes_.slice(type)][positions]
        return found[0] if one else found

    def to_frame(self, type: str | None = None) -> pandas.DataFrame:
        """A pandas frame of all nodes, in node order: columns id, type (of a typed graph), and x0, x1, ... of vectors.

        type: nodes of this type alone; None: of all.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError("to_frame needs pandas: pip install pandas") from None
        vectors = self._vectors
        types = self.nodes_.types if type is None else (self.nodes_.check_type(type),)
        rows = np.concatenate([vectors[self.nodes_.slice(each)] for each in types])
        frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
        ids = [self.nodes_.of(each).to_numpy() for each in types]
        kinds = {each.dtype for each in ids}
        frame.insert(0, "id", np.concatenate(ids if len(kinds) == 1 else [each.astype(object) for each in ids]))
        if self.nodes_.types != (NODE,):
            frame.insert(1, "type", np.repeat(np.array(types, object), [len(each) for each in ids]))
        return frame

    def most_similar(
        self,
        node: Any = None,
        k: int = 10,
        type: str | None = None,
        *,
        vector: Any = None,
        to: str | None = None,
        index: str | None = None,
    ) -> Any:
        """The k nodes whose vectors are nearest in cosine: [(id, cosine)], the nearest first.

        node: an id, or a list or array of ids, which gives a list of such lists. It is not among its own neighbors.
        k: how many, at least 1; fewer come back where there are fewer.
        type: the type of node, where its id alone does not tell.
        vector: instead of node, a vector (dim,), or several (n, dim).
        to: the type of the nodes that are looked for; None: the type of node, or the only one there is.
        index: None compares with every vector, which takes under a second for a million of 64 numbers. "usearch" builds
            an index first (pip install 'pine-embedding[index]'), and may miss some.

        The first call prepares the vectors and keeps them, in as much memory again.
        """
        vectors, k = self._vectors, check_k(k)
        if index is not None:
            one_of("index", index, INDEXES)
        if (node is None) == (vector is None):
            raise InputError("most_similar takes an id or ids, or vector=..., one of the two")
        own = None
        if vector is not None:
            to = self.nodes_.check_type(type if to is None else to)
            queries, one = check_queries(vector, vectors.shape[1])
        else:
            several, one = self._listed(node)
            type, own = self.nodes_.find(several, type)
            to = type if to is None else self.nodes_.check_type(to)
            queries = unit_rows(vectors[self.nodes_.slice(type)][own])
        found = nearest_without(self._nearest(to, index), queries, k, own if to == type and vector is None else None)
        ids = self.nodes_.of(to)
        similar: list[Similar] = [
            [(ids[position], cosine) for position, cosine in zip(p.tolist(), c.tolist(), strict=True)] for p, c in found
        ]
        return similar[0] if one else similar

    def _nearest(self, type: str, index: str | None) -> NearestVectors:
        """Kept until the next fit; not pickled."""
        kept: dict[tuple[str, str | None], NearestVectors] = self.__dict__.setdefault("_nearest_vectors", {})
        if (type, index) not in kept:
            unit = unit_rows(self._vectors[self.nodes_.slice(type)])
            on_gpu = getattr(self, "device", "cpu") != "cpu" and torch.cuda.is_available()
            device = torch.device("cuda" if on_gpu else "cpu")
            kept[type, index] = ExactNeighbors(unit, device) if index is None else INDEXES[index](unit)
        return kept[type, index]

    def _forget_nearest(self) -> None:
        self.__dict__.pop("_nearest_vectors", None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_nearest_vectors"}

    def _listed(self, ids: Any) -> tuple[Any, bool]:
        """Several ids, and whether it was one that was given."""
        if isinstance(ids, np.ndarray) and ids.ndim == 0:
            ids = ids.item()
        if isinstance(ids, tuple | frozenset):
            one = any(known.position(ids) >= 0 for known in self.nodes_.by_type.values())
        else:
            one = isinstance(ids, str | bytes) or not isinstance(ids, Iterable)
        return [ids] if one else ids, one
