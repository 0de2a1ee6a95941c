"""What an edge carries beside a weight and a relation has no place in a Graph: it is named in a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from pine.errors import listed


def warn_of_dropped(what: str, names: Iterable[str]) -> None:
    """what: the constructor that leaves the attributes of these names out."""
    dropped = sorted(set(names))
    if dropped:
        word = "attribute" if len(dropped) == 1 else "attributes"
        way = "; weight='NAME' reads weights from another one" if what == "from_networkx" else ""
        warnings.warn(f"{what} leaves out the edge {word} {listed(dropped)}{way}", stacklevel=4)
