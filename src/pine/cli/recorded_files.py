"""The files of edges and nodes that a run was trained on, while they are where they were and as they were."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pine
from pine.errors import InputError


@dataclass(frozen=True)
class RecordedFiles:
    """As read_graph takes them: one file of edges or relations, and lists of nodes."""

    edges: Path | None
    relations: list[str] | None
    nodes: list[str] | None


def recorded_files(run: Path) -> RecordedFiles:
    """Those that a run names; an InputError says why they cannot be read."""
    inputs = pine.io.runs.read_record(run).get("inputs", [])
    named = [each for each in inputs if isinstance(each, dict)] if isinstance(inputs, list) else []
    by_name = {str(each.get("what")): each for each in named}
    relations = {what: each for what, each in by_name.items() if what == "edges" or what.count(":") == 2}
    lists = {what: each for what, each in by_name.items() if what == "nodes" or what.startswith("nodes ")}
    if not relations:
        raise InputError(f"a run holds no edges, and {run} does not say which they were")
    files = {what: _unchanged(run, each) for what, each in (relations | lists).items()}
    nodes = [str(files[what]) if what == "nodes" else f"{what[6:]}={files[what]}" for what in lists] or None
    if "edges" in relations:
        return RecordedFiles(files["edges"], None, nodes)
    return RecordedFiles(None, [f"{what}={files[what]}" for what in relations], nodes)


def _unchanged(run: Path, recorded: dict[str, Any]) -> Path:
    """A file that a run was trained on; never another one that has come to stand in its place."""
    path = Path(str(recorded.get("file")))
    if not path.is_file():
        raise InputError(f"a run holds no edges, and {run} names {path}, which is not there")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != recorded.get("sha256"):
        raise InputError(f"a run holds no edges, and {run} names {path}, which has changed since")
    return path
