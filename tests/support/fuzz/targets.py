"""What is fuzzed, and how many cases there are of each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def _later(module: str, name: str) -> Callable[[], Any]:
    """Loaded by the process that needs it."""
    return lambda: getattr(importlib.import_module(f"support.fuzz.{module}"), name)


TARGETS: dict[str, Callable[[], Any]] = {
    "edges: csv, tsv, space-separated": _later("files", "TextEdges"),
    "edges: gz": _later("files", "PackedEdges"),
    "edges: Parquet": _later("files", "ParquetEdges"),
    "nodes: csv, text, Parquet": _later("files", "Nodes"),
    "labels: csv, tsv, text, Parquet": _later("files", "LabelFiles"),
    "features: csv, Parquet, npy, npz": _later("files", "FeatureFiles"),
    "data sets: npz": _later("files", "DataArrays"),
    "data sets: MATLAB": _later("files", "Matlab"),
    "saved runs": _later("runs", "SavedRuns"),
    "saved runs, forged with right sums": _later("runs", "ForgedRuns"),
    "checkpoints": _later("runs", "Checkpoints"),
    "runs to resume (--json)": _later("files", "ResumeFiles"),
    "rows of experiments": _later("files", "ResultRows"),
    "store of results": _later("files", "ResultStore"),
    "settings in TOML": _later("files", "ConfigFiles"),
    "edges in Python": _later("values", "EdgeForms"),
    "labels in Python": _later("values", "LabelForms"),
    "questions to a model": _later("values", "Questions"),
    "settings and specs": _later("values", "Settings"),
    "command line": _later("values", "CommandLine"),
}
FAULTY = {"faulty": _later("faulty", "Faulty")}  # to test the fuzzer itself
CASES = dict.fromkeys(TARGETS, 1000) | {
    "edges: csv, tsv, space-separated": 3000,
    "labels: csv, tsv, text, Parquet": 2000,
    "saved runs": 2000,
    "saved runs, forged with right sums": 2000,
}
