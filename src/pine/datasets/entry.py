"""What is known of a data set before it is loaded: its size, its source, its files and how to check them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Original:
    """A file as its publisher offers it: its address, and its path within a data folder."""

    url: str
    path: str
    sha256: str = ""  # of the file's bytes; a pickle is not opened without it


@dataclass(frozen=True)
class Entry:
    """One line of the catalog.

    nodes, edges: what load gives, {node type: count} and {relation: count}, edges undirected and simple.
    rows: the edges as the source lists them, {relation: count}.
    classes, label_sets: number of classes; whether a node has a set of them rather than one.
    numbers: whether labels are numbers, and there are no classes.
    names: of the classes, where they are known.
    paper: what the paper prints of it in "Summary of Datasets" or in the text; empty if it is not there.
    source, license: the origin in words, and what is known of the terms.
    where: the page, repository or paper from which a person can start to look for it.
    files: what PINE loads, relative to a data folder; other_forms: other sets of files that serve as well.
    originals: the publisher's own files, where PINE can check what they hold; only these are downloaded.
    content: pine.datasets.arrays.content_sha256 of what the originals hold.
    stand_in_for: the data set of the paper in whose place it is used; it never answers to that name.
    untouched: used for no choice: no setting, default or rule of PINE or of a baseline was ever chosen on it.
    """

    name: str
    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    rows: Mapping[str, int]
    classes: int
    source: str
    license: str
    where: str
    files: tuple[str, ...]
    label_sets: bool = False
    numbers: bool = False
    names: tuple[str, ...] = ()
    paper: str = ""
    other_forms: tuple[tuple[str, ...], ...] = ()
    originals: tuple[Original, ...] = ()
    content: str = ""
    stand_in_for: str = ""
    untouched: bool = False

    @property
    def credit(self) -> str:
        """Origin and license in one sentence."""
        return f"{self.source}; {self.license}"

    @property
    def types(self) -> tuple[str, ...]:
        """The node types."""
        return tuple(self.nodes)

    @property
    def num_nodes(self) -> int:
        """Nodes of all types."""
        return sum(self.nodes.values())

    @property
    def num_edges(self) -> int:
        """Edges of all relations."""
        return sum(self.edges.values())

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the classes; their numbers where no names are known."""
        return self.names or tuple(map(str, range(self.classes)))

    @property
    def embedded(self) -> bool:
        """Whether it comes inside the package."""
        return not self.files

    @property
    def downloadable(self) -> bool:
        """Whether load can fetch it."""
        return bool(self.originals)

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """Every set of files from which it loads, the preferred one first."""
        publisher = tuple(original.path for original in self.originals)
        return tuple(form for form in (self.files, *self.other_forms, publisher) if form)
